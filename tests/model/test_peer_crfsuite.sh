#!/usr/bin/env bash
# CRFsuite itself, where it is on PATH: its tagger and ours give the same labels with the models that
# it learns here and with those that we write.
set -euo pipefail
if ! command -v crfsuite >/dev/null; then
    echo "skipped: there is no crfsuite on PATH"
    exit 77
fi
t=$TRELLIS_TMP
data="--columns word,pos,chunk,entity --label chunk"
fail() {
    echo "FAILED: $1"
    exit 1
}

printf 'columns word pos\nnode word[-1..1]\nnode prefix(word,2)\nnode word & pos[-1]\nstep\n' >"$t/plain.tpl"
for part in dev test; do
    # shellcheck disable=SC2086
    "$TRELLIS" features -f "$t/plain.tpl" $data "data/english/$part.conll" >"$t/$part"
done

# same MODEL_OF_CRFSUITE MODEL
same() {
    crfsuite tag -m "$1" "$t/test" | sed '/^$/d' >"$t/theirs"
    "$TRELLIS" tag -m "$2" --format crfsuite "$t/test" | cut -f 1 | sed '/^$/d' >"$t/ours"
    cmp "$t/theirs" "$t/ours" || fail "$1 and $2: the labels differ"
}

for algorithm in lbfgs l2sgd ap pa arow; do
    crfsuite learn -a $algorithm -p max_iterations=5 -m "$t/theirs.lcrf" "$t/dev" >/dev/null
    same "$t/theirs.lcrf" "$t/theirs.lcrf"
    "$TRELLIS" convert -m "$t/theirs.lcrf" --to crfsuite -o "$t/again.lcrf"
    same "$t/again.lcrf" "$t/theirs.lcrf"
done
for learner in "-t crf -a sgd" "-t crf"; do
    # shellcheck disable=SC2086
    "$TRELLIS" train $learner --epochs 2 -q --format crfsuite -m "$t/ours.model" "$t/dev"
    "$TRELLIS" convert -m "$t/ours.model" --to crfsuite -o "$t/ours.lcrf"
    same "$t/ours.lcrf" "$t/ours.model"
done
echo "7 models, the same labels"
