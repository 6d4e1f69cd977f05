#!/usr/bin/env bash
# Models that other programs train on CoNLL-2000, opened and converted by ours, if the programs are on PATH: labels,
# scores and probabilities against what they print themselves, and the processor seconds of tagging, loading included.
# Few iterations: it is the answers that are compared, not the models. FOREIGN_MODELS=FOLDER keeps the models there and
# uses those that it has.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh
corpus=$(cut_corpus conll2000)
[ -n "$corpus" ] || { echo "foreign: skipped, no corpus in $shared/conll2000"; exit 0; }
models=${FOREIGN_MODELS:-$work/foreign}
template=examples/templates/crfpp-chunking.txt
test=$corpus/test.txt
mkdir -p "$models"
for part in train test; do
    "$trellis" features -f examples/templates/crfsuite-chunking.txt "$corpus/$part.txt" >"$work/$part.attributes"
done
sed '/^#/d; /^$/d' $template >"$work/pattern"
sed '/^B/d' "$work/pattern" >"$work/node-pattern"
# shellcheck disable=SC2046
"${CC:-cc}" -O2 -Iinclude bench/foreign.c -o "$work/compare" "$(dirname "$trellis")/libtrellis.a" \
    $(pkg-config --libs libxxhash libutf8proc libpcre2-8 zlib libzstd jansson) -lunistring -lm -lpthread

# processor COMMAND...: the median of its processor seconds in three runs.
processor() {
    local times=() TIMEFORMAT='%U %S'
    for _ in 1 2 3; do
        times+=("$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }')")
    done
    median "${times[@]}"
}

# compared NAME MODEL KIND PATHS DATA: what the program printed, in $work/theirs, against the model opened and converted.
# Sets the variables of a row.
compared() {
    "$work/compare" "$3" "$4" "$2" "$5" "$work/theirs" >"$work/counts"
    read -r tokens differ paths paths_differ ties first_ties marginal probability score <"$work/counts"
    "$trellis" convert -m "$2" -o "$work/converted"
    "$work/compare" "$3" "$4" "$work/converted" "$5" "$work/theirs" | cmp - "$work/counts" ||
        fail "$1: the converted model gives other answers"
}

# show NAME MODEL TAG... -- OPTION...: a row; TAG is their command, OPTION those of `trellis tag`.
show() {
    local name=$1 model=$2 theirs=() direct converted
    shift 2
    while [ "$1" != -- ]; do
        theirs+=("$1")
        shift
    done
    shift
    local their_time
    their_time=$(processor "${theirs[@]}")
    direct=$(processor "$trellis" tag -j 1 -m "$model" -o "$work/tagged" "$@")
    converted=$(processor "$trellis" tag -j 1 -m "$work/converted" -o "$work/tagged" "$@")
    record foreign model "$name" tokens "$tokens" labels_differ "$((differ + first_ties))" paths "$paths" \
        paths_differ "$paths_differ" paths_tied "$ties" marginal "$marginal" probability "$probability" \
        score "$score" their_seconds "$their_time" direct_seconds "$direct" converted_seconds "$converted"
    row "$name" "$tokens" "$((differ + first_ties))" "$paths" "$paths_differ + $ties" "$marginal" "$probability" "$score" \
        "$their_time" "$direct" "$converted"
}

heading "Models of other programs, CoNLL-2000" model tokens "labels that differ" paths "that differ + tie" \
    marginal probability score "their s" "opened s" "converted s"

if command -v crfsuite >/dev/null; then
    for name in lbfgs c1 l2sgd ap pa arow; do
        model=$models/crfsuite-$name.lcrf options=(-a "${name/c1/lbfgs}" -p max_iterations=10)
        [ $name != c1 ] || options+=(-p c1=0.5 -p c2=0)
        [ -f "$model" ] || crfsuite learn "${options[@]}" -m "$model" "$work/train.attributes" >/dev/null
        crfsuite tag -p -l -m "$model" "$work/test.attributes" >"$work/theirs"
        compared "CRFsuite $name" "$model" crfsuite 1 "$work/test.attributes"
        show "CRFsuite, \`${options[*]}\`" "$model" crfsuite tag -m "$model" "$work/test.attributes" -- \
            --format crfsuite "$work/test.attributes"
    done
    "$trellis" train -q -t crf -e 15 --format crfsuite -m "$work/ours" "$work/train.attributes"
    "$trellis" convert -m "$work/ours" --to crfsuite -o "$work/ours.lcrf"
    crfsuite tag -p -l -m "$work/ours.lcrf" "$work/test.attributes" >"$work/theirs"
    compared "ours" "$work/ours.lcrf" crfsuite 1 "$work/test.attributes"
    show "ours, written for CRFsuite" "$work/ours.lcrf" crfsuite tag -m "$work/ours.lcrf" "$work/test.attributes" -- \
        --format crfsuite "$work/test.attributes"
fi

# wapiti_model NAME KIND OPTION...: -p compares marginals, -n the scores of three paths.
wapiti_model() {
    local model=$models/wapiti-$1.model kind=$2 marginal_of_labels=null
    local name="Wapiti, \`${*:3}\`"
    shift 2
    [ -f "$model" ] || wapiti train "$@" -p "$pattern" "$corpus/train.txt" "$model" 2>/dev/null
    if [ "$kind" = scores ]; then
        wapiti label -c -p -s -m "$model" "$test" >"$work/theirs" 2>/dev/null
        compared "$name" "$model" posteriors 1 "$test"
        marginal_of_labels=$marginal
    fi
    wapiti label -c -s -n 3 -m "$model" "$test" >"$work/theirs" 2>/dev/null
    compared "$name" "$model" "$kind" 3 "$test"
    marginal=$marginal_of_labels
    show "$name" "$model" wapiti label -m "$model" "$test" -- "$test"
}
if command -v wapiti >/dev/null; then
    pattern=$work/pattern
    wapiti_model l2 scores -a l-bfgs -1 0 -2 1 -i 6
    wapiti_model l1 scores -a l-bfgs -1 0.5 -2 0.00001 -i 10
    wapiti_model sgd scores -a sgd-l1 -i 5 -c
    wapiti_model memm probabilities -T memm -a l-bfgs -1 0.5 -i 8
    pattern=$work/node-pattern
    wapiti_model maxent scores -T maxent -a l-bfgs -1 0.5 -i 10
fi

crfpp_model() {
    local model=$models/crfpp-$1.model name
    shift
    name="CRF++, \`$*\`"
    [ -f "$model" ] || crf_learn "$@" $template "$corpus/train.txt" "$model" >/dev/null 2>&1
    crf_test -v 2 -n 3 -m "$model" "$test" >"$work/theirs"
    compared "$name" "$model" crf++ 3 "$test"
    show "$name" "$model" crf_test -m "$model" "$test" -- "$test"
}
if command -v crf_learn >/dev/null; then
    crfpp_model l2 -a CRF-L2 -m 8
    crfpp_model l1 -a CRF-L1 -m 10
    crfpp_model mira -a MIRA -f 3 -m 3
fi
