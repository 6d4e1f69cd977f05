#!/usr/bin/env bash
# Runs the stress tests that docs/reliability.md lists and, beside them, all fuzzers, and writes the tables at its
# beginning: test, how often, failures; fuzzer, executions, failures. It changes that page, tests/fuzz/executions.txt and
# the archives in tests/fuzz/corpus.
#
#   scripts/reliability.sh BUILD_DIRECTORY      built with tests. KILLS (1,000), DIFFERENTIAL_CASES (a million) and
#                                               FUZZ_SECONDS (30 for each fuzzer) say how long it takes
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
export TRELLIS=$build/trellis TRELLIS_BUILD=$build
page=docs/reliability.md
table=$(mktemp)
trap 'rm -f "$table" "$table.out" "$table.fuzz"' EXIT
failed=0

before=$(cat tests/fuzz/executions.txt)
FUZZ_SECONDS=${FUZZ_SECONDS:-30} scripts/fuzz.sh build-fuzz >"$build/fuzz.log" 2>&1 & # its last line is looked at below
fuzzing=$!

# row WHAT PATTERN COMMAND...: runs the command; `how often` is the number in front of PATTERN in its output
row() {
    local what=$1 pattern=$2 often failures=none
    shift 2
    if ! bash scripts/with_tmp.sh "$@" >"$table.out" 2>&1; then
        failures="**see \`$*\`**"
        failed=1
    fi
    often=$(grep -oE "[0-9]+ $pattern" "$table.out" | head -n 1)
    [ -n "$often" ] || failed=1
    echo "| $what | ${often:-**not counted**} | $failures |" | tee -a "$table"
}

tests=$build/tests
# The tests with a failing allocator, and the sum of their runs.
failing_allocator() {
    local test
    for test in "$tests"/faults/allocator_*; do "$test" || exit 1; done |
        awk '/ runs with a failing allocator/ { sum += $1; next } { print } END { print sum " runs with a failing allocator" }'
}
export -f failing_allocator
export tests
row "the n-th allocation fails, for all n, in every public function" "runs with a failing allocator" \
    bash -o pipefail -c failing_allocator
row "\`kill -9\` at random during training with checkpoints, tuning and saving" "processes killed" \
    env KILLS="${KILLS:-1000}" bash tests/faults/test_kill.sh
row "interrupted and resumed, every learner: the same model to the byte; damaged checkpoints" \
    "trainings interrupted, [0-9]+ damaged checkpoints" "$tests/train/checkpoint"
row "checkpoints with extreme sizes and offsets and correct checksums" "checkpoints with an extreme number" \
    "$tests/train/extremes"
row "the same model to the byte for 1, 2, 3 and 8 threads, twice, every learner" "ways to learn, 9 times each" \
    "$tests/faults/determinism"
row "models with flipped bytes, truncated, and with random damage and correct checksums" "damaged models" \
    "$tests/model/hostile"
row "models with each size, offset and number at extreme values and correct checksums" "models with an extreme number" \
    "$tests/model/extremes"
row "full disks, size limits, paths that cannot be written" "cases" bash tests/faults/test_disk.sh
row "unusual input: lengths, sizes, labels, values, line ends, directories, sockets, pipes" "cases" bash tests/faults/test_odd_input.sh
row "limits of sizes, ratios, matches, labellings and memory, while input is read" "cases" bash tests/faults/test_limits.sh
row "every pointer of every public function NULL ([null_arguments.md](null_arguments.md))" "calls with a NULL argument" \
    bash tests/install/test_null_arguments.sh
export DIFFERENTIAL_CASES=${DIFFERENTIAL_CASES:-1000000}
row "fast kernels against the reference: random graphs, weights, scores, lengths" "chains compared with the reference" \
    "$tests/lattice/differential"
row "one model, 16 taggers in 16 threads, the same labels" "sequences by each of 16 taggers" "$tests/tagger/tagger"

# The table of fuzzers: what each executed now and in all runs so far.
fuzzers() {
    local log=$build/fuzz.log name now sum failures
    echo "| fuzzer | executions in this run | so far | failures |"
    echo "|---|---:|---:|---|"
    while read -r name sum; do
        now=$((sum - $(awk -v name="$name" '$1 == name { n = $2 } END { print n + 0 }' <<<"$before")))
        failures=none
        ! grep -qE "^fuzz: failed:.* $name[ ;]" "$log" || failures="**see $log**"
        case $name in
        short) echo "| all, in short runs | | $sum | none |" ;;
        *) echo "| \`fuzz_$name\` | $now | $sum | $failures |" ;;
        esac
    done < <(grep -v '^#' tests/fuzz/executions.txt)
    awk '!/^#/ { sum += $2 } END { print "| all together | | " sum " | |" }' tests/fuzz/executions.txt
}
wait $fuzzing
fuzzers | tee "$table.fuzz"
grep -q '^fuzz: [0-9]* fuzzers, no findings' "$build/fuzz.log" || failed=1

{
    sed '/^| test |/,$d' "$page"
    echo "| test | how often | failures |"
    echo "|---|---|---|"
    cat "$table"
    echo
    cat "$table.fuzz"
    sed '1,/^| all together /d' "$page"
} >"$table.out"
cp "$table.out" "$page"
exit $failed
