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
