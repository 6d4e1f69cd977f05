#!/usr/bin/env bash
# Chunking from part-of-speech tags that a model predicts, beside gold tags. `train --columns-from` replaces the tags of
# the training file by those of models that have not seen the sentence, and writes the tagger of the whole file, which
# tags the test file. Takes about eight minutes of processor time.
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

"$trellis" train -q -f chunk --columns-from 'pos --label 2' --first-model tags.model -m predicted.model "$data/train.txt"
"$trellis" train -q -f chunk -m gold.model "$data/train.txt"
# score MODEL...: the line of precision, recall and FB1
score() { "$trellis" eval "${@/#/-m}" "$data/test.txt" | sed -n 2p; }
echo "tags of the test file:                 $("$trellis" eval -m tags.model "$data/test.txt" | sed -n 1,2p | grep -o 'accuracy: *[0-9.]*%' | head -n 1)"
echo "chunks, gold tags in both:             $(score gold.model)"
echo "chunks, predicted tags in both:        $(score tags.model predicted.model)"
echo "chunks, predicted tags when tagging:   $(score tags.model gold.model)"
