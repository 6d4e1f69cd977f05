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
# Learned words: what the weights of a model are named, counted again by a script.
cat >"$TRELLIS_TMP/learned.tpl" <<'X'
columns word pos
node learned(lower(word[-1..0]),inside)
node learned(word,first last) & word[1]
step
X
learned() { python3 - "$@" <<'X'; }
import collections, sys
template, column, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
sequences, sequence = [], []
for line in open(file, encoding='utf-8'):
    if line.strip():
        cells = line.split()
        sequence.append((cells[0], cells[column]))
    elif sequence:
        sequences.append(sequence)
        sequence = []
sequences += [sequence] if sequence else []
size = max(1, min(100, len(sequences) // 10))
def spans(labels):
    """(first, last, type) by the rules of conlleval; other labels stand by themselves."""
    open_at, before = None, 'O'
    for i, label in enumerate(labels + ['O']):
        letter, _, kind = label.partition('-')
        if open_at is not None and (letter != 'I' or kind != before.partition('-')[2]):
            yield open_at, i - 1, before.partition('-')[2]
            open_at = None
        if label != 'O' and kind and open_at is None:
            open_at = i
        elif label != 'O' and not kind:
            yield i, i, label
        before = label if kind else 'O'
counts = {role: [collections.defaultdict(collections.Counter), collections.Counter()]
          for role in ('inside', 'first', 'last')}
at = collections.defaultdict(list)
kinds = {}
for number, sequence in enumerate(sequences):
    for i, (word, _) in enumerate(sequence):
        at[word.lower(), 'lower'].append((number, i))
        at[word, 'word'].append((number, i))
    for first, last, kind in spans([label for _, label in sequence]):
        for i in range(first, last + 1):
            kinds[number, i, 'inside'] = kind
        kinds[number, first, 'first'] = kinds[number, last, 'last'] = kind
order = {role: [] for role in counts}
for (number, i, role), kind in sorted(kinds.items(), key=lambda item: (item[0][0], item[0][1])):
    order[role] += [kind] if kind not in order[role] else []
def answer(text, form, role, without):
    places = [place for place in at[text, form] if place[0] // size != without]
    types = collections.Counter(kinds[place + (role,)] for place in places if place + (role,) in kinds)
    if types:
        kind = max(order[role], key=lambda k: (types[k], -order[role].index(k)))
        mark = ':rarely' if 2 * types[kind] < len(places) else ':once' if types[kind] == 1 else ''
        return kind + mark
    if role != 'inside':
        return None
    return ':new' if not places else ':outside' + {1: ':once'}.get(len(places), ':few' if len(places) < 5 else '')
seen = set()
for number, sequence in enumerate(sequences):
    words = [word for word, _ in sequence]
    for i, word in enumerate(words):
        for offset in (-1, 0):
            if i + offset >= 0:
                value = answer(words[i + offset].lower(), 'lower', 'inside', number // size)
                seen.add(f'learned(lower(word[{offset}]),inside)={value}')
        for role in ('first', 'last'):
            value = answer(word, 'word', role, number // size)
            if value and i + 1 < len(words):
                seen.add(f'learned(word[0],{role})&word[1]={value}|{words[i + 1]}')
print('\n'.join(sorted(seen)))
X
names() { "$TRELLIS" export "$1" | sed -n 's/^node\t.*\t\(learned.*\)$/\1/p' | LC_ALL=C sort -u; }
head -n 3000 data/english/train.conll >"$TRELLIS_TMP/chunks"
for column in 3 2; do
    run 0 train -q -t crf -a sgd -e 1 --label $column -f "$TRELLIS_TMP/learned.tpl" -m "$TRELLIS_TMP/learned.model" \
        "$TRELLIS_TMP/chunks"
    learned x $((column - 1)) "$TRELLIS_TMP/chunks" | LC_ALL=C sort -u >"$TRELLIS_TMP/expected"
    names "$TRELLIS_TMP/learned.model" >"$TRELLIS_TMP/found"
    want "there are learned words in column $column" test -s "$TRELLIS_TMP/expected"
    want "words are learned without their block in column $column" cmp "$TRELLIS_TMP/expected" "$TRELLIS_TMP/found"
done
finish
