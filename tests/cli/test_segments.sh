# Segments on the command line: what templates give, and a model of segments wherever a model is taken.
. tests/cli/lib.sh

cat >"$TRELLIS_TMP/train.txt" <<'X'
we O
saw O
New B-LOC
York B-LOC
and O
the B-ORG
Bank I-ORG
of I-ORG
England I-ORG

Rio B-LOC
de I-LOC
Janeiro I-LOC
and O
Bank O
of O
the O
river O

the O
New B-LOC
Delhi I-LOC
Bank O
X
printf 'bank of england\nthe bank of japan\n' >"$TRELLIS_TMP/banks.txt"
printf 'Rio de Janeiro\nNew Delhi\n' >"$TRELLIS_TMP/places.txt"
cat >"$TRELLIS_TMP/segments.tpl" <<'X'
columns word
node word[-1..1]
segment text(lower(word)) & size
segment head(word,1..2)
segment tail(shortshape(word))
segment any(lower(word),2)
segment before(word,1..2) & after(word)
segment count(isupper(word)) if not all(isupper(word))
segment listed(word, "places.txt")
segment fuzzy(word, "banks.txt", 50 100)
segment similarity(word, "banks.txt")
step
X
tpl=$TRELLIS_TMP/segments.tpl model=$TRELLIS_TMP/model train=$TRELLIS_TMP/train.txt

run 0 features -f "$tpl" "$train" && grep '^segment' "$out" >"$TRELLIS_TMP/listed"
compare "$TRELLIS_TMP/listed" $golden/segments.out

run 0 train -q -t crf --segments --max-segment 3 -f "$tpl" -m "$model" --l2 0.01 "$train"
run 0 tag -m "$model" "$train" && cp "$out" "$TRELLIS_TMP/labels"
want "all labels to be learned" sh -c "awk 'NF { print \$1, \$NF } !NF { print }' '$TRELLIS_TMP/labels' | diff -B - '$train'"

# The same labels from every form of the model.
run 0 export "$model" && cp "$out" "$TRELLIS_TMP/text"
want "lengths in the text form" grep -q "^segments	B-ORG	3" "$TRELLIS_TMP/text"
run 0 import -m "$TRELLIS_TMP/imported" "$TRELLIS_TMP/text"
run 0 convert --model "$model" --bits 16 -o "$TRELLIS_TMP/small"
for other in imported small; do
    run 0 tag -m "$TRELLIS_TMP/$other" "$train"
    want "$other: the same labels" cmp -s "$out" "$TRELLIS_TMP/labels"
done
run 0 export --json "$model"
want "lengths in JSON" grep -q '"segments":{"B-LOC":3' "$out"

# Decoding is always a segmentation.
for how in viterbi posterior risk; do
    run 0 tag -m "$model" --decode $how "$train"
    want "$how: the same labels" cmp -s "$out" "$TRELLIS_TMP/labels"
done
run 0 tag -m "$model" --nbest 3 --marginals "$train"
run 0 eval -m "$model" "$train"
run 0 explain -m "$model" "$train"
want "explanations name segments" grep -q 'segment text(lower(word))&size=rio de janeiro|3' "$out"
run 0 inspect "$model"
want "weights of segments" grep -q 'segment listed(word,"places.txt")' "$out"
run 0 show -m "$model" "$train"
want "the picture has arcs" grep -q 'class="segment"' "$out"

# What does not go together.
run 2 tag -m "$model" --decode beam "$train"
want "no beams" grep -q 'does not work with a model of segments' "$err"
run 2 train -t crf -f "$tpl" -m "$model" "$train"
want "segment lines need the option" grep -q 'need --segments' "$err"
printf 'columns word\nsegment texts(word)\nstep\n' >"$TRELLIS_TMP/bad.tpl"
run 1 features -f "$TRELLIS_TMP/bad.tpl" "$train"
want "the functions of a segment" grep -q 'bad.tpl:2:9: expected a function of a segment; they are text head tail' "$err"
printf 'columns word\nsegment text(word[-1])\nstep\n' >"$TRELLIS_TMP/bad.tpl"
run 1 features -f "$TRELLIS_TMP/bad.tpl" "$train"
want "no offsets" grep -q 'takes no offset' "$err"
printf 'columns word\nsegment any(word) & any(word,2)\nstep\n' >"$TRELLIS_TMP/bad.tpl"
run 1 features -f "$TRELLIS_TMP/bad.tpl" "$train"
want "any() once" grep -q 'any() once' "$err"

# The filter says what it loses; the model keeps it.
run 0 train -t crf --segments --filter 0.4 -f "$tpl" -m "$TRELLIS_TMP/filtered" --l2 0.01 "$train"
want "what the filter loses" grep -q 'the filter loses [0-9]* of 5 segments' "$err"
run 0 tag -m "$TRELLIS_TMP/filtered" "$train" && cp "$out" "$TRELLIS_TMP/labels"
run 0 export "$TRELLIS_TMP/filtered" && cp "$out" "$TRELLIS_TMP/text"
run 0 import -m "$TRELLIS_TMP/imported" "$TRELLIS_TMP/text"
run 0 tag -m "$TRELLIS_TMP/imported" "$train"
want "imported with its filter: the same labels" cmp -s "$out" "$TRELLIS_TMP/labels"
run 0 train -t crf --segments --filter 1e-9 -f "$tpl" -m "$TRELLIS_TMP/filtered" "$train"
want "what was seen is not lost" grep -q 'the filter loses 0 of 5 segments' "$err"
run 2 train -t crf --filter 0.4 -f "$tpl" -m "$TRELLIS_TMP/filtered" "$train"
want "a filter is of segments" grep -q 'filter needs --segments' "$err"

# A training that is interrupted goes on to the same model.
run 0 train -q -t crf -a sgd --segments -f "$tpl" -e 6 -m "$TRELLIS_TMP/whole" "$train"
run 0 train -q -t crf -a sgd --segments -f "$tpl" -e 3 -m "$TRELLIS_TMP/half" --checkpoint "$TRELLIS_TMP/checkpoint" "$train"
run 0 train -q -t crf -a sgd --segments -f "$tpl" -e 6 -m "$TRELLIS_TMP/resumed" --checkpoint "$TRELLIS_TMP/checkpoint" --resume "$train"
want "resumed, the same model" cmp -s "$TRELLIS_TMP/whole" "$TRELLIS_TMP/resumed"
finish
