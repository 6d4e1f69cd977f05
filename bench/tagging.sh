#!/usr/bin/env bash
# Tagging from columns to labels, with and without loading: the same file once and four times over; the time to load is
# that of tagging an empty file. With weights in 32 and in 16 bits, and the number of predictions that differ.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh
corpus=$(cut_corpus conll2000) preset=examples/templates/crfpp-chunking.txt
if [ -z "$corpus" ]; then
    corpus=$work/english preset=pos
    mkdir -p "$corpus"
    cp data/english/train.conll "$corpus/train.txt"
    cp data/english/test.conll "$corpus/test.txt"
fi
"$trellis" train -q -t crf -e 15 -f "$preset" -m "$work/tagging.model" "$corpus/train.txt"
mv "$work/tagging.model" "$work/tagging.32"
"$trellis" convert -m "$work/tagging.32" --bits 16 -o "$work/tagging.16"
: >"$work/nothing"
for _ in $(seq 20); do cat "$corpus/test.txt"; done >"$work/many"
for _ in $(seq 4); do cat "$work/many"; done >"$work/more"
tokens=$(grep -c . "$work/many")

# timed FILE: sets $middle to the median of five runs.
timed() {
    local times=()
    for _ in 1 2 3 4 5; do
        measure "$trellis" tag -j "$threads" -m "$work/tagging.$bits" "$1"
        times+=("$seconds")
    done
    middle=$(median "${times[@]}")
}

heading "Tagging $tokens tokens, and four times as many" bits threads "model MB" "ms to load and tag nothing" \
    "tokens/s with loading" "tokens/s without" "peak MB"
for bits in 32 16; do
    size=$(stat -c %s "$work/tagging.$bits")
    for threads in 1 2; do
        timed "$work/nothing"
        nothing=$middle
        timed "$work/many"
        once=$middle
        timed "$work/more"
        more=$middle
        with=$(calculate "$tokens / $once") without=$(calculate "3 * $tokens / ($more - $once)")
        record tagging bits $bits threads $threads model_bytes "$size" seconds_to_load "$nothing" tokens "$tokens" \
            tokens_per_second_with_loading "$with" tokens_per_second "$without" peak_kilobytes "$peak"
        row $bits $threads "$(calculate "$size / 1e6")" "$(calculate "1000 * $nothing")" "$with" "$without" \
            "$(megabytes "$peak")"
    done
    "$trellis" tag -m "$work/tagging.$bits" "$corpus/test.txt" >"$work/tagged.$bits"
done
changed=$(diff "$work/tagged.32" "$work/tagged.16" | grep -c '^>' || true)
record bits labels "$(grep -c . "$corpus/test.txt")" labels_changed "$changed"
echo
echo "Predictions changed by 16 bits: $changed of $(grep -c . "$corpus/test.txt")."
