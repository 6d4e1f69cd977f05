#!/usr/bin/env bash
# Trains a tagger for each of four tasks on the corpora in data/, scores it on test sentences, and tags
# a line of running text. Takes less than a minute.
#
#   scripts/demo.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
trellis=$build/trellis
models=$build/demo
mkdir -p "$models"

# number KEY JSON: the value of the first such key.
number() {
    local value
    value=$(sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" <<<"$2" | head -n 1)
    [ -n "$value" ] || { echo "demo: the report has no \"$1\"" >&2; return 1; }
    echo "$value"
}

# task NAME CORPUS LABEL_COLUMN PRESET SCORE: SCORE is a key of the report of `trellis eval --json`.
task() {
    local name=$1 corpus=data/$2 label=$3 preset=$4 score=$5
    local model=$models/$name.model log=$models/$name.log start=$EPOCHREALTIME report sentences labels value
    "$trellis" train -t perceptron -f "$preset" --label "$label" --dev "$corpus/dev.conll" \
        -m "$model" "$corpus/train.conll" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
    report=$("$trellis" eval -m "$model" --label "$label" --json "$corpus/test.conll")

    sentences=$(awk -v RS= 'END { print NR }' "$corpus/train.conll")
    labels=$(awk -v c="$label" 'NF && !seen[$c]++ { n++ } END { print n }' "$corpus/train.conll")
    value=$(number "$score" "$report")
    awk -v row="$name $sentences $labels $value $score $start $EPOCHREALTIME" 'BEGIN {
        split(row, r, " ")
        printf "%-16s %9d %7d %7.2f %% %-18s %7.1f\n", r[1], r[2], r[3], 100 * r[4], r[5], r[7] - r[6]
    }'
}

printf '%-16s %9s %7s %7s   %-18s %7s\n' task sentences labels score "" seconds
task part-of-speech english 2 pos accuracy
task chunks english 3 chunk f1
task entities english 4 ner f1
task acronyms acronyms 2 chars sequence_accuracy

sentence="The old ferry crossed the river before the storm reached Carrowby."
printf '\n%s\n' "$sentence"
"$trellis" tag -m "$models/part-of-speech.model" --format text --output-format inline <<<"$sentence"
