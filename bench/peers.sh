#!/usr/bin/env bash
# Other tools on the same data and features, where they are on PATH: crfsuite, wapiti, crf_learn. Runs are
# interleaved with ours, three of each, and the ratios are those of the medians. None of them is built here.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh
corpus=$shared/conll2000
[ -f "$corpus/train.txt" ] || { echo "peers: skipped, no corpus in $corpus"; exit 0; }
template=examples/templates/crfpp-chunking.txt
rounds=3
shown=

# against NAME WHAT OURS... -- THEIRS...: both commands, turn by turn.
against() {
    local name=$1 what=$2 ours=() theirs=() our_times=() their_times=() our_peak their_peak
    shift 2
    while [ "$1" != -- ]; do
        ours+=("$1")
        shift
    done
    shift
    theirs=("$@")
    for _ in $(seq $rounds); do
        measure "${ours[@]}"
        our_times+=("$seconds") our_peak=$peak
        measure "${theirs[@]}"
        their_times+=("$seconds") their_peak=$peak
    done
    local our_time their_time ratio
    our_time=$(median "${our_times[@]}") their_time=$(median "${their_times[@]}")
    ratio=$(calculate "$their_time / $our_time")
    [ -n "$shown" ] || heading "Peers, medians of $rounds" tool what "their seconds" ours ratio "their peak MB" "our peak MB"
    shown=yes
    record peers tool "$name" what "$what" their_seconds "$their_time" our_seconds "$our_time" ratio "$ratio" \
        their_peak_kilobytes "$their_peak" our_peak_kilobytes "$our_peak"
    row "$name" "$what" "$their_time" "$our_time" "$ratio" "$(megabytes "$their_peak")" "$(megabytes "$our_peak")"
}

if command -v crfsuite >/dev/null; then
    "$trellis" features -f examples/templates/crfsuite-chunking.txt "$corpus/train.txt" >"$work/train.crfsuite"
    file=$work/train.crfsuite
    iterations=10
    [ -z "${BENCH_FULL:-}" ] || iterations=1000
    against crfsuite "L-BFGS, $iterations iterations at most" \
        "$trellis" train -q -j 1 -t crf --warm-up 0 -e $iterations --format crfsuite -m "$work/model" "$file" -- \
        crfsuite learn -a lbfgs -p c2=1 -p max_iterations=$iterations -m "$work/peer" "$file"
    against crfsuite "averaged perceptron, 10 epochs" \
        "$trellis" train -q -j 1 -t perceptron -e 10 --format crfsuite -m "$work/model" "$file" -- \
        crfsuite learn -a ap -p max_iterations=10 -p epsilon=0 -m "$work/peer" "$file"
    rm -f "$work/train.crfsuite"
fi
if command -v wapiti >/dev/null; then
    against wapiti "L-BFGS, all features, 5 iterations" \
        "$trellis" train -q -j 1 -t crf --warm-up 0 --all-features -e 5 -f "$template" -m "$work/model" "$corpus/train.txt" -- \
        wapiti train -t 1 -a l-bfgs -2 1 -1 0 -i 5 -p "$template" "$corpus/train.txt" "$work/peer"
fi
if command -v crf_learn >/dev/null; then
    against crf++ "L-BFGS, all features, 5 iterations" \
        "$trellis" train -q -j 1 -t crf --warm-up 0 --all-features -e 5 -f "$template" -m "$work/model" "$corpus/train.txt" -- \
        crf_learn -p 1 -m 5 "$template" "$corpus/train.txt" "$work/peer"
fi
[ -n "$shown" ] || echo "peers: skipped, none of crfsuite, wapiti and crf_learn is on PATH"
