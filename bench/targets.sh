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
# target WHAT ASKED EXPRESSION: a figure is missing where the expression has an empty pair of brackets.
target() {
    [[ $3 != *"()"* ]] || return 0
    [ -n "$shown" ] || heading "Targets" what asked measured "measured / asked"
    shown=yes
    local measured
    measured=$(calculate "$3")
    record target what "$1" asked "$2" measured "$measured"
    row "$1" "$2" "$measured" "$(calculate "$measured / $2")"
}

peer='"tool": "crfsuite"'
rate=$(found tokens_per_second '"name": "tagging"' '"bits": 32' '"threads": 1')
rate_of_two=$(found tokens_per_second '"name": "tagging"' '"bits": 32' '"threads": 2')
theirs=$(found their_tokens_per_second '"name": "peers_tagging"' "$peer")
target "L-BFGS until each stops, times CRFsuite" 12 "($(found ratio "$peer" 'until each stops'))"
target "L-BFGS, 30 iterations, two threads against one" 1.8 \
    "($(found seconds '"name": "threads"' '"threads": 1')) / ($(found seconds '"name": "threads"' '"threads": 2'))"
target "an iteration of L-BFGS, times CRFsuite" 9 "($(found ratio "$peer" 'an iteration without'))"
target "an epoch of the averaged perceptron, times CRFsuite" 12 "($(found ratio "$peer" 'perceptron, an epoch'))"
target "tagging ready-made attributes to labels, times CRFsuite" 12 "($(found ratio "$peer" 'labels written'))"
target "the same, two threads against one" 1.9 "($(found seconds peers_tagging_threads)) / ($(found seconds_on_two peers_tagging_threads))"
target "tagging columns, million tokens a second" 2 "($rate) / 1e6"
target "tagging columns, times CRFsuite from attributes" 18 "($rate) / ($theirs)"
target "tagging columns, two threads against one" 1.9 "($rate_of_two) / ($rate)"
target "8 epochs of SGD, times crfasgd" 20 "($(found ratio '"tool": "crfasgd"'))"
[ -n "$shown" ] || echo "targets: nothing of them was measured"
