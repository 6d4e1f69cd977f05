#!/usr/bin/env bash
# How time grows: over label sets of 2 to 1,000 and over generated corpora of 10^4 tokens and more, with the exponent
# that fits best (least squares of the logarithms). BENCH_FULL=1 goes on to 10^7 tokens.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh

# passes OPTION... FILE: the seconds of reading and one pass more, by two runs.
pass_of() {
    local few
    measure "$trellis" train -q -j 2 -m "$work/model" -e 1 "$@"
    few=$seconds
    measure "$trellis" train -q -j 2 -m "$work/model" -e 3 "$@"
    pass=$(calculate "($seconds - $few) / 2")
}

heading "Label sets, 20,000 generated tokens, order 1, two threads: seconds a pass" labels perceptron "CRF, L-BFGS"
for labels in 2 10 50 200 1000; do
    file=$(draw $labels 20000)
    pass_of -t perceptron -f id "$file"
    perceptron=$pass
    pass_of -t crf --warm-up 0 -f id "$file"
    record labels labels $labels tokens 20000 perceptron_seconds_per_pass "$perceptron" crf_seconds_per_pass "$pass"
    row $labels "$perceptron" "$pass"
done

sizes="10000 100000 1000000"
[ -z "${BENCH_FULL:-}" ] || sizes+=" 10000000"
heading "Corpora, 20 labels, two threads: seconds to read and train, peak MB" tokens "perceptron, 3 epochs" "peak MB" \
    "CRF by SGD, 3 epochs" "peak MB"
: >"$work/perceptron"
: >"$work/crf"
for tokens in $sizes; do
    file=$(draw 20 "$tokens")
    measure "$trellis" train -q -j 2 -t perceptron -e 3 -f extended -m "$work/model" "$file"
    perceptron=$seconds perceptron_peak=$peak
    echo "$tokens $seconds" >>"$work/perceptron"
    measure "$trellis" train -q -j 2 -t crf -a sgd --batch 16 -e 3 -f extended -m "$work/model" "$file"
    echo "$tokens $seconds" >>"$work/crf"
    record corpora tokens "$tokens" perceptron_seconds "$perceptron" perceptron_peak_kilobytes "$perceptron_peak" \
        crf_seconds "$seconds" crf_peak_kilobytes "$peak"
    row "$tokens" "$perceptron" "$(megabytes "$perceptron_peak")" "$seconds" "$(megabytes "$peak")"
    rm -f "$file"
done

# exponent FILE: of the lines "tokens seconds", without the smallest corpus, whose time is mostly starting up.
exponent() {
    tail -n +2 "$1" | awk '{ x = log($1); y = log($2); n++; a += x; b += y; c += x * x; d += x * y }
        END { printf "%.3f", (n * d - a * b) / (n * c - a * a) }'
}
record growth perceptron_exponent "$(exponent "$work/perceptron")" crf_exponent "$(exponent "$work/crf")"
row "exponent" "$(exponent "$work/perceptron")" "" "$(exponent "$work/crf")" ""
