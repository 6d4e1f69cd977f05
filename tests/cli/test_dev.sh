#!/usr/bin/env bash
# The score on --dev is the one that the kept model has on that data.
set -euo pipefail
source tests/cli/lib.sh

for options in "-t perceptron -e 4" "-t crf -e 8" "-t crf -a sgd -e 3" "-t perceptron -e 2 --train-scheme iobes"; do
    # shellcheck disable=SC2086
    "$TRELLIS" train -q $options -f chunk --label 3 --dev data/english/test.conll -m "$TRELLIS_TMP/m" \
        data/english/train.conll
    noted=$("$TRELLIS" info "$TRELLIS_TMP/m" | awk '$1 == "dev-f1" { printf "%.2f", 100 * $2 }')
    found=$("$TRELLIS" eval -m "$TRELLIS_TMP/m" --label 3 data/english/test.conll | sed -n '2s/.*FB1: *//p')
    [ "$noted" = "$found" ] || { echo "FAILED: $options: --dev says $noted, eval says $found"; exit 1; }
done

# The labels of --dev are decoded in threads: their number changes no byte of the model.
for options in "-t crf -e 4" "-t hmm" "-t memm -e 3" "-t ssvm -e 2"; do
    for threads in 1 3; do
        # shellcheck disable=SC2086
        "$TRELLIS" train -q $options -j $threads --dev data/english/dev.conll -m "$TRELLIS_TMP/m$threads" \
            data/english/dev.conll
    done
    cmp "$TRELLIS_TMP/m1" "$TRELLIS_TMP/m3" || { echo "FAILED: $options: threads matter"; exit 1; }
done

# Dev data that an HMM gives probability 0 is labelled as the tagger labels it.
printf 'a A\nb B\n\n' >"$TRELLIS_TMP/train"
printf 'a A\nb A\nb B\n\n' >"$TRELLIS_TMP/dev"
"$TRELLIS" train -q -t hmm --alpha 0 --smoothing add --dev "$TRELLIS_TMP/dev" -m "$TRELLIS_TMP/m" "$TRELLIS_TMP/train"
noted=$("$TRELLIS" info "$TRELLIS_TMP/m" | awk '$1 == "dev-accuracy" { printf "%.4f", $2 }')
correct=$("$TRELLIS" tag -m "$TRELLIS_TMP/m" --columns word,gold "$TRELLIS_TMP/dev" 2>/dev/null | awk 'NF { n++; if ($2 == $NF) c++ } END { printf "%.4f", c / n }')
[ "$noted" = "$correct" ] || { echo "FAILED: --dev says $noted, tagging $correct"; exit 1; }
