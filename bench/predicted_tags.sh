#!/usr/bin/env bash
# Chunking from part-of-speech tags that a model predicts, beside gold tags. A tagger that has seen a sentence tags it
# better than it will tag new text, so the tags of the training file are jackknifed: each fifth is tagged by a model of
# the other four. The tags of the test file come from a model of the whole training file. Takes two minutes.
#
#   bench/predicted_tags.sh [TRELLIS] [CORPUS_DIRECTORY]
#
# The corpus directory contains train.txt and test.txt of CoNLL-2000; without it nothing is measured.
set -euo pipefail
cd "$(dirname "$0")/.."
trellis=$(realpath "${1:-build/trellis}")
data=${2:-../shared/data/conll2000}
[ -f "$data/train.txt" ] || { echo "skipped: no corpus in $data"; exit 0; }
data=$(realpath "$data")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# tag MODEL FILE OPTION...: word, predicted tag, chunk
tag() { "$trellis" tag -m "$1" --label 2 "${@:3}" "$2" | awk '{ print NF ? $1 " " $4 " " $3 : "" }'; }

for part in 1 2 3 4 5; do
    "$trellis" train -q -f pos --label 2 --part "!$part/5" -m tags.model "$data/train.txt"
    tag tags.model "$data/train.txt" --part $part/5 >>train.txt
done
"$trellis" train -q -f pos --label 2 -m tags.model "$data/train.txt"
tag tags.model "$data/test.txt" >test.txt
echo "tags of the test file: $(paste -d ' ' test.txt "$data/test.txt" | awk 'NF { n++; right += $2 == $5 }
    END { printf "%.2f %% right", 100 * right / n }')"

"$trellis" train -q -f chunk -m predicted.model train.txt
"$trellis" train -q -f chunk -m gold.model "$data/train.txt"
echo "chunks, gold tags in both:             $("$trellis" eval -m gold.model "$data/test.txt" | sed -n 2p)"
echo "chunks, predicted tags in both:        $("$trellis" eval -m predicted.model test.txt | sed -n 2p)"
echo "chunks, predicted tags when tagging:   $("$trellis" eval -m gold.model test.txt | sed -n 2p)"
