#!/usr/bin/env bash
# What was asked of the speed beside other tools, and what the other parts of this run have measured. A figure that was not
# measured is left out, so this says little without CRFsuite on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh

# found KEY PATTERN...: the figure of the last record that has all patterns, or nothing.
found() {
    local key=$1 lines
    shift
    lines=$(cat "$records")
    for pattern; do lines=$(grep -F -e "$pattern" <<<"$lines" || true); done
    sed -nE "s/.*\"$key\": (-?[0-9.e+-]+).*/\1/p" <<<"$lines" | tail -n 1
}

shown=
# target WHAT least|most ASKED EXPRESSION: a figure is missing where the expression has an empty pair of brackets.
target() {
    local what=$1 bound=$2 asked=$3 measured reached
    [[ $4 != *"()"* ]] || return 0
    [ -n "$shown" ] || heading "Targets" what asked measured reached
    shown=yes
    measured=$(calculate "$4")
    reached=$(awk -v x="$measured" -v y="$asked" -v bound="$bound" \
        'BEGIN { print (bound == "least" ? x >= y : x <= y) ? "yes" : "no" }')
    record target what "$what" bound "$bound" asked "$asked" measured "$measured" reached "$reached"
    row "$what" "at $bound $asked" "$measured" "$reached"
}

peer='"tool": "crfsuite"'
brown=(brown '"learner": "recipe, one seed"')
rate=$(found tokens_per_second '"name": "tagging"' '"bits": 32' '"threads": 1')
rate_of_two=$(found tokens_per_second '"name": "tagging"' '"bits": 32' '"threads": 2')
theirs=$(found their_tokens_per_second '"name": "peers_tagging"' "$peer")
target "L-BFGS until each stops, times CRFsuite" least 12 "($(found ratio "$peer" 'until each stops'))"
target "L-BFGS until it stops, two threads against one" least 1.8 \
    "($(found seconds '"name": "threads"' '"threads": 1')) / ($(found seconds '"name": "threads"' '"threads": 2'))"
target "peak memory of L-BFGS on one thread, MB" most 75 \
    "($(found our_peak_kilobytes "$peer" 'until each stops')) * 1024 / 1e6"
target "an iteration of L-BFGS, times CRFsuite" least 9 "($(found ratio "$peer" 'an iteration without'))"
target "an epoch of the averaged perceptron, times CRFsuite" least 12 "($(found ratio "$peer" 'perceptron, an epoch'))"
target "CRF by SGD, four epochs, seconds with reading and writing" most 1 "($(found seconds '"name": "sgd"' '"threads": 1'))"
target "its FB1 on the test data" least 93.6 "($(found f1 '"name": "sgd"' '"threads": 1'))"
target "eight epochs of SGD, times crfasgd" least 20 "($(found ratio '"tool": "crfasgd"'))"
target "Brown by the recipe with one seed on two threads, seconds" most 45 "($(found seconds "${brown[@]}"))"
target "its accuracy on the test data, per cent" least 96.45 "($(found accuracy "${brown[@]}"))"
target "tagging ready-made attributes to labels, times CRFsuite" least 12 "($(found ratio "$peer" 'labels written'))"
target "the same, two threads against one" least 1.9 \
    "($(found seconds peers_tagging_threads)) / ($(found seconds_on_two peers_tagging_threads))"
target "tagging columns, million tokens a second" least 2 "($rate) / 1e6"
target "tagging columns, times CRFsuite from attributes" least 18 "($rate) / ($theirs)"
target "tagging columns, two threads against one" least 1.9 "($rate_of_two) / ($rate)"
[ -n "$shown" ] || echo "targets: nothing of them was measured"
