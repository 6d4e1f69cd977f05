#!/usr/bin/env bash
# The library from memory: adding ready-made attributes to a corpus, tagging them, and the loss and gradient of a chain over
# given scores. Medians of five runs, in processor time on one thread; beside CRFsuite's command and numpy if they are there.
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
for part in train test; do
    "$trellis" features -f "$preset" "$corpus/$part.txt" >"$work/$part.crfsuite"
done
"$trellis" train -q -t crf -e 15 --format crfsuite -m "$work/attributes.model" "$work/train.crfsuite"
libraries="$(pkg-config --libs libxxhash libutf8proc libpcre2-8 zlib libzstd jansson) -lunistring"
for program in corpus attributes chain; do
    # shellcheck disable=SC2086
    "${CC:-cc}" -O2 -Iinclude "bench/$program.c" -o "$work/$program" "$(dirname "$trellis")/libtrellis.a" $libraries -lm -lpthread
done

# figure PATTERN COMMAND...: sets $middle to the median of what the pattern finds in five runs.
figure() {
    local pattern=$1 values=()
    shift
    for _ in 1 2 3 4 5; do
        measure "$@"
        values+=("$(sed -nE "s/.*$pattern.*/\1/p" "$work/out")")
    done
    middle=$(median "${values[@]}")
}

heading "The library from memory, one thread" what figure unit
report() {
    row "$1" "$2" "$3"
    record "library" what "$1" figure "$2" unit "$3"
}
figure ' ([0-9.]+) tokens\/s' "$work/corpus" "$work/train.crfsuite"
report "attributes added to a corpus" "$middle" tokens/s
figure ' ([0-9.]+) MB' "$work/corpus" "$work/train.crfsuite"
report "size of that corpus" "$middle" MB
figure ' ([0-9]+) tokens\/s' "$work/attributes" "$work/attributes.model" "$work/test.crfsuite"
report "attributes tagged, with opening the model" "$middle" tokens/s
figure ' ([0-9.]+) us' "$work/chain"
report "loss and gradient of 32 sequences, 40 tokens, 20 labels" "$middle" us
if python3 -c 'import numpy' 2>/dev/null; then
    figure ' ([0-9.]+) us' env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 bench/chain.py
    report "the same in numpy" "$middle" us
fi
