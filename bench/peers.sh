#!/usr/bin/env bash
# Other tools on the same data and features, if they are on PATH: crfsuite, wapiti, crf_learn, crfasgd. Runs alternate with ours,
# and the ratios are those of the medians. None of them is built here.
#
# CRFsuite has our features, the observed pairs of attribute and label and all transitions, and our objective:
# training until each stops, epochs of the perceptron, tagging. Wapiti and CRF++ make every pair a feature: seconds
# of an iteration, from two runs of different length. One thread each; two as well with BENCH_FULL=1, which also takes
# three rounds of everything.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh
corpus=$(cut_corpus conll2000)
[ -n "$corpus" ] || { echo "peers: skipped, no corpus in $shared/conll2000"; exit 0; }
template=examples/templates/crfpp-chunking.txt
shown=

# an_iteration FEW MANY COMMAND...: both numbers in place of @; sets $seconds to those of one iteration.
an_iteration() {
    local few=$1 many=$2 start
    shift 2
    measure "${@//@/$few}"
    start=$seconds
    measure "${@//@/$many}"
    seconds=$(calculate "($seconds - $start) / ($many - $few)")
}

# against ROUNDS NAME WHAT OURS... -- THEIRS...: both, alternating; each begins with measure or an_iteration. Sets
# $our_time and $their_time to the medians.
against() {
    local rounds=$1 name=$2 what=$3 ours=() theirs=() our_times=() their_times=() our_peak their_peak ratio
    shift 3
    while [ "$1" != -- ]; do
        ours+=("$1")
        shift
    done
    shift
    theirs=("$@")
    [ -z "${BENCH_FULL:-}" ] || rounds=3
    for _ in $(seq "$rounds"); do
        "${ours[@]}"
        our_times+=("$seconds") our_peak=$peak
        "${theirs[@]}"
        their_times+=("$seconds") their_peak=$peak
    done
    our_time=$(median "${our_times[@]}") their_time=$(median "${their_times[@]}")
    ratio=$(calculate "$their_time / $our_time")
    [ -n "$shown" ] || heading "Peers, CoNLL-2000" tool what "their seconds" ours ratio "their peak MB" "our peak MB"
    shown=yes
    record peers tool "$name" what "$what" rounds "$rounds" their_seconds "$their_time" our_seconds "$our_time" \
        ratio "$ratio" their_peak_kilobytes "$their_peak" our_peak_kilobytes "$our_peak"
    row "$name" "$what" "$their_time" "$our_time" "$ratio" "$(megabytes "$their_peak")" "$(megabytes "$our_peak")"
}

# tagging NAME WHAT OURS... -- THEIRS...: the test data four times over, with loading.
tagging() {
    local name=$1 what=$2
    shift 2
    against 3 "$name" "$what" "$@"
    record peers_tagging tool "$name" their_tokens_per_second "$(calculate "$tokens / $their_time")" \
        our_tokens_per_second "$(calculate "$tokens / $our_time")"
}

for _ in 1 2 3 4; do cat "$corpus/test.txt"; done >"$work/test"
tokens=$(grep -c . "$work/test")
threads=1
[ -z "${BENCH_FULL:-}" ] || threads="1 2"

if command -v crfsuite >/dev/null; then
    for part in train test; do
        file=$corpus/train.txt
        [ $part = train ] || file=$work/test
        "$trellis" features -f examples/templates/crfsuite-chunking.txt "$file" >"$work/$part.crfsuite"
    done
    against 1 crfsuite "L-BFGS, c2 = 1, until each stops" \
        measure "$trellis" train -q -j 1 -t crf --format crfsuite -m "$work/model" "$work/train.crfsuite" -- \
        measure crfsuite learn -a lbfgs -p c2=1 -p feature.possible_transitions=1 -m "$work/peer" "$work/train.crfsuite"
    their_objective=$(sed -n 's/^Loss: //p' "$work/out" | tail -n 1)
    our_objective=$("$trellis" info "$work/model" | awk '$1 == "objective" { print $2 }')
    relative=$(calculate "($our_objective - $their_objective) / $their_objective")
    record peers_objective tool crfsuite their_objective "$their_objective" our_objective "$our_objective" \
        relative_difference "$relative"
    row crfsuite "objective there, relative difference" "$their_objective" "$our_objective" "$relative" "" ""
    tagging crfsuite "tagging $tokens tokens, ready-made attributes, ours written with all attributes" \
        measure "$trellis" tag -j 1 --format crfsuite -m "$work/model" "$work/test.crfsuite" -- \
        measure crfsuite tag -m "$work/peer" "$work/test.crfsuite"
    labels=(--format crfsuite --output-format labels)
    tagging crfsuite "tagging $tokens tokens, ready-made attributes, labels written" \
        measure "$trellis" tag -j 1 "${labels[@]}" -m "$work/model" "$work/test.crfsuite" -- \
        measure crfsuite tag -m "$work/peer" "$work/test.crfsuite"
    once=$our_time
    times=()
    for _ in 1 2 3; do
        measure "$trellis" tag -j 2 "${labels[@]}" -m "$work/model" "$work/test.crfsuite"
        times+=("$seconds")
    done
    record peers_tagging_threads tool crfsuite seconds "$once" seconds_on_two "$(median "${times[@]}")"
    against 3 crfsuite "L-BFGS, an iteration without warm-up" \
        an_iteration 1 21 "$trellis" train -q -j 1 -t crf --warm-up 0 -e @ --format crfsuite -m "$work/model" "$work/train.crfsuite" -- \
        an_iteration 1 11 crfsuite learn -a lbfgs -p c2=1 -p feature.possible_transitions=1 -p max_iterations=@ -m "$work/peer" "$work/train.crfsuite"
    against 3 crfsuite "averaged perceptron, an epoch" \
        an_iteration 1 21 "$trellis" train -q -j 1 -t perceptron -e @ --format crfsuite -m "$work/model" "$work/train.crfsuite" -- \
        an_iteration 1 11 crfsuite learn -a ap -p feature.possible_transitions=1 -p max_iterations=@ -p epsilon=0 -m "$work/peer" "$work/train.crfsuite"
    rm -f "$work"/*.crfsuite
fi
for n in $threads; do
    ours=(an_iteration 1 11 "$trellis" train -q -j "$n" -t crf --warm-up 0 --all-features -e @ -f "$template" -m "$work/model" "$corpus/train.txt")
    if command -v wapiti >/dev/null; then
        against 1 wapiti "L-BFGS, all features, an iteration, threads: $n" "${ours[@]}" -- \
            an_iteration 1 5 wapiti train -t "$n" -a l-bfgs -2 1 -1 0 -i @ -p "$template" "$corpus/train.txt" "$work/peer"
        [ "$n" != 1 ] || tagging wapiti "tagging $tokens tokens, loading its model of text" \
            measure "$trellis" tag -j 1 -m "$work/model" "$work/test" -- \
            measure wapiti label -m "$work/peer" "$work/test"
    fi
    if command -v crf_learn >/dev/null; then
        against 1 crf++ "L-BFGS, all features, an iteration, threads: $n" "${ours[@]}" -- \
            an_iteration 1 4 crf_learn -p "$n" -m @ "$template" "$corpus/train.txt" "$work/peer"
        [ "$n" != 1 ] || tagging crf++ "tagging $tokens tokens" \
            measure "$trellis" tag -j 1 -m "$work/model" "$work/test" -- \
            measure crf_test -m "$work/peer" "$work/test"
    fi
done
if command -v crfasgd >/dev/null; then
    # Compiled with today's C++ library it takes a file that ends in a newline for one that cannot be read to its end.
    printf %s "$(<"$template")" >"$work/crfasgd-template"
    printf %s "$(<"$corpus/train.txt")" >"$work/crfasgd-train"
    against 1 crfasgd "SGD, 8 epochs with reading and writing" \
        measure "$trellis" train -q -j 1 -t crf -a sgd -e 8 -f "$template" -m "$work/model" "$corpus/train.txt" -- \
        measure crfasgd -q -c 1.0 -f 1 -r 8 -h 8 -e "cat" "$work/peer.gz" "$work/crfasgd-template" "$work/crfasgd-train"
fi
[ -n "$shown" ] || echo "peers: skipped, none of crfsuite, wapiti, crf_learn and crfasgd is on PATH"
