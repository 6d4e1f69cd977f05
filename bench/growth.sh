#!/usr/bin/env bash
# How time scales: with label sets of 2 to 1,000 and with generated corpora of 10^4 to 10^7 tokens, and the fitted
# exponents. BENCH_FULL=1 runs three epochs over the corpora instead of one.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh
label_sets="2 10 50 200 1000" sizes="10000 100000 1000000 10000000" epochs=1
[ -z "${BENCH_FULL:-}" ] || epochs=3
[ -z "${BENCH_QUICK:-}" ] || label_sets="2 10 50" sizes="10000 30000 100000"

# pass_of NAME OPTION... FILE: sets $pass to the seconds of a pass, and records them for the fit.
pass_of() {
    local name=$1
    shift
    rm -f "$work/log"
    measure "$trellis" train -q -j 2 -m "$work/model" -e 5 --log "$work/log" "$@"
    pass=$(seconds_per_pass "$work/log")
    echo "$labels $pass" >>"$work/labels-$name"
}

heading "Label sets, 20,000 generated tokens, order 1, two threads: seconds per pass" labels perceptron "CRF, L-BFGS"
for labels in $label_sets; do
    file=$(generated "$labels" 20000)
    pass_of perceptron -t perceptron -f id "$file"
    perceptron=$pass
    pass_of crf -t crf --warm-up 0 -f id "$file"
    record labels labels "$labels" tokens 20000 perceptron_seconds_per_pass "$perceptron" crf_seconds_per_pass "$pass"
    row "$labels" "$perceptron" "$pass"
done
by_labels=("$(exponent "$work/labels-perceptron")" "$(exponent "$work/labels-crf")")
record label_growth perceptron_exponent "${by_labels[0]}" crf_exponent "${by_labels[1]}"
row "exponent" "${by_labels[@]}"

heading "Corpora, 20 labels, two threads: seconds to read and train, peak MB" tokens "perceptron, epochs: $epochs" "peak MB" \
    "CRF by SGD, epochs: $epochs" "peak MB"
for tokens in $sizes; do
    file=$(generated 20 "$tokens")
    measure "$trellis" train -q -j 2 -t perceptron -e $epochs -f extended -m "$work/model" "$file"
    perceptron=$seconds perceptron_peak=$peak
    echo "$tokens $seconds" >>"$work/perceptron"
    measure "$trellis" train -q -j 2 -t crf -a sgd --batch 16 -e $epochs -f extended -m "$work/model" "$file"
    echo "$tokens $seconds" >>"$work/crf"
    record corpora tokens "$tokens" epochs $epochs perceptron_seconds "$perceptron" \
        perceptron_peak_kilobytes "$perceptron_peak" crf_seconds "$seconds" crf_peak_kilobytes "$peak"
    row "$tokens" "$perceptron" "$(megabytes "$perceptron_peak")" "$seconds" "$(megabytes "$peak")"
    rm -f "$file"
done
by_tokens=("$(exponent "$work/perceptron")" "$(exponent "$work/crf")")
record growth perceptron_exponent "${by_tokens[0]}" crf_exponent "${by_tokens[1]}"
row "exponent" "${by_tokens[0]}" "" "${by_tokens[1]}" ""
