#!/usr/bin/env bash
# Tries what docs/reliability.md lists, and writes the table in it: what was tried, how often, what was lost.
#
#   scripts/reliability.sh BUILD_DIRECTORY      built with tests; KILLS=1000 kills more often
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
export TRELLIS=$build/trellis TRELLIS_BUILD=$build
page=docs/reliability.md
table=$(mktemp)
trap 'rm -f "$table" "$table.out"' EXIT
failed=0

# row WHAT HOW_OFTEN COMMAND...: runs it; the part of its output that matches the number and pattern is how often
row() {
    local what=$1 pattern=$2 often lost=nothing
    shift 2
    if ! bash scripts/with_tmp.sh "$@" >"$table.out" 2>&1; then
        lost="**see \`$*\`**"
        failed=1
    fi
    often=$(grep -oE "[0-9]+ $pattern" "$table.out" | head -n 1)
    [ -n "$often" ] || failed=1
    echo "| $what | ${often:-**not counted**} | $lost |" | tee -a "$table"
}

tests=$build/tests
row "memory runs out at the n-th allocation, for all n, in every public function" "runs with a failing allocator" \
    "$tests/faults/allocator"
row "\`kill -9\` at random while training with checkpoints, while tuning and while saving" "processes killed" \
    bash tests/faults/test_kill.sh
row "interrupted and resumed, every learner: the same model to the byte; damaged checkpoints" \
    "trainings interrupted, [0-9]+ damaged checkpoints" "$tests/train/checkpoint"
row "checkpoints with extreme sizes and offsets behind right checksums" "checkpoints with an extreme number" \
    "$tests/train/extremes"
row "the same model to the byte for 1, 2, 3 and 8 threads, twice, every learner" "ways to learn, 9 times each" \
    "$tests/faults/determinism"
row "models with flipped bytes, cut off, and with random damage behind right checksums" "damaged models" \
    "$tests/model/hostile"
row "models with each size, offset and number at extreme values behind right checksums" "models with an extreme number" \
    "$tests/model/extremes"
row "full disks, size limits, paths that cannot be written" "cases" bash tests/faults/test_disk.sh
row "odd input: lengths, sizes, labels, values, line ends, folders, sockets, pipes" "cases" bash tests/faults/test_odd_input.sh
row "one model, 16 taggers in 16 threads, the same labels" "sequences by each of 16 taggers" "$tests/tagger/tagger"

{
    sed '/^| what was tried/,$d' "$page"
    echo "| what was tried | how often | what was lost |"
    echo "|---|---|---|"
    cat "$table"
} >"$table.out"
cp "$table.out" "$page"
exit $failed
