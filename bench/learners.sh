#!/usr/bin/env bash
# Every learner on CoNLL-2000 chunking with the CRF++ templates: time, passes, features, model size and FB1,
# as a Markdown table. Takes some minutes.
#
#   bench/learners.sh [TRELLIS] [CORPUS_DIRECTORY]
#
# The corpus directory contains train.txt and test.txt; without it nothing is measured.
set -euo pipefail
cd "$(dirname "$0")/.."
trellis=${1:-build/trellis}
corpus=${2:-../shared/data/conll2000}
template=examples/templates/crfpp-chunking.txt
[ -f "$corpus/train.txt" ] || { echo "skipped: no corpus in $corpus"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# row NAME OPTION...: trains on one thread, tags the test data, prints a row.
row() {
    local name=$1 start end iterations features size score
    shift
    start=$EPOCHREALTIME
    "$trellis" train -j 1 -f "$template" -m "$work/model" --log "$work/log" "$@" "$corpus/train.txt" 2>"$work/err" ||
        { echo "| $name | failed: $(tail -n 1 "$work/err") | | | | |"; return; }
    end=$EPOCHREALTIME
    iterations=$(grep -c . "$work/log")
    features=$("$trellis" info --json "$work/model" | sed -n 's/.*"weights":\([0-9]*\).*/\1/p')
    size=$(stat -c %s "$work/model")
    score=$("$trellis" eval -m "$work/model" "$corpus/test.txt" | sed -n "2s/.*FB1: *//p")
    awk -v n="$name" -v o="$*" -v s="$start" -v e="$end" -v i="$iterations" -v f="$features" -v b="$size" \
        -v x="$score" 'BEGIN { printf "| %s | `%s` | %.1f | %d | %d | %.1f | %s |\n", n, o, e - s, i, f, b / 1e6, x }'
    rm -f "$work/log"
}

echo "| learner | options | seconds | passes | node weights | model MB | FB1 |"
echo "|---|---|---:|---:|---:|---:|---:|"
row "averaged perceptron" -t perceptron -e 10
row "perceptron" -t perceptron -a plain -e 10
row "passive-aggressive" -t perceptron -a pa1 -e 20
row "AROW" -t perceptron -a arow -e 20
row "MIRA, m = 1" -t mira --mbest 1 -e 20
row "MIRA, m = 5" -t mira --mbest 5 -e 20
row "structural SVM, BCFW" -t ssvm
row "CRF, L-BFGS" -t crf
row "CRF, SGD" -t crf -a sgd -e 8
row "CRF, L1" -t crf --l1 0.5 -e 200
row "CRF, L1 then L2" -t crf --select-l1 0.5 -e 100
row "maximum entropy" -t maxent
row "MEMM, L-BFGS" -t memm
row "MEMM, SGD" -t memm -a sgd -e 8
