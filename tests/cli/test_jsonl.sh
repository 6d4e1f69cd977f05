# JSON lines of trellis tag: the schema of docs/formats.md, and what the members mean.
. tests/cli/lib.sh
t=$TRELLIS_TMP

awk '/^```/ { if (on && /^```$/) { on = 0; if (text ~ /\$schema/) printf "%s", text } else if (/^```json$/) { on = 1; text = "" }; next }
     on { text = text $0 "\n" }' docs/formats.md >$t/schema.json
want "docs/formats.md has a schema" test -s $t/schema.json
cut -f 1,4 data/english/train.conll >$t/train
cut -f 1,4 data/english/test.conll | head -n 400 >$t/test
run 0 train -q -t crf -a sgd -e 3 -m $t/crf $t/train
run 0 train -q -t perceptron -e 3 -m $t/perceptron $t/train
run 0 train -q -t hmm --label 2 -f hmm -m $t/pos data/english/train.conll
printf 'Carrowby began in\nDublin, where “José O’Brien” lives. She   went to New  York.\n' >$t/text

cat >$t/check.py <<'PYTHON'
"""check.py SCHEMA FILE MEMBER...: every line is valid, consistent, and has these members."""
import json
import sys

try:
    import jsonschema
    validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
except ImportError:
    validator = None
    print("python3-jsonschema is missing: the schema itself was not tried")

lines = 0
for line in open(sys.argv[2], encoding="utf-8"):
    lines += 1
    if validator:
        validator.validate(json.loads(line))
    object = json.loads(line)
    for member in sys.argv[3:]:
        assert member in object, member
    tokens, n = object["tokens"], len(object["tokens"])
    assert len(object["labels"]) == n
    text = object.get("text")
    for token, (begin, end) in zip(tokens, object.get("offsets", [])):
        assert text[begin:end] == token, (text, token, begin, end)
    assert len(object.get("offsets", tokens)) == n
    for span in object.get("spans", []):
        assert 0 <= span["start"] < span["end"] <= n
        if "offsets" in object:
            begin = object["offsets"][span["start"]][0]
            end = object["offsets"][span["end"] - 1][1]
            assert (begin, end) == (span["start_char"], span["end_char"])
            assert text[begin:end] == span["text"]
        if "marginals" in object:  # a span is no more probable than any of its labels
            least = min(object["marginals"][span["start"]:span["end"]])
            assert span["probability"] <= least + 1e-4, (span, least)
    if "spans" in object:  # by conlleval's rules for B and I
        expected, before = [], "O"
        for i, label in enumerate(object["labels"]):
            if label != "O" and (label[0] == "B" or before == "O" or before[2:] != label[2:]):
                expected.append([label[2:], i, i + 1])
            elif label != "O":
                expected[-1][2] = i + 1
            before = label
        assert expected == [[s["type"], s["start"], s["end"]] for s in object["spans"]]
    for k, row in enumerate(object.get("all_marginals", [])):
        assert abs(sum(row.values()) - 1) < 1e-3
        assert row[object["labels"][k]] >= max(row.values()) - 0.5
    scores = [best["score"] for best in object.get("nbest", [])]
    assert scores == sorted(scores, reverse=True)
    assert not scores or object["nbest"][0]["labels"] == object["labels"]
assert lines, "no output"
PYTHON

# valid MEMBERS ARGUMENT...
valid() {
    local members=$1
    shift
    run 0 tag --output-format jsonl "$@" || return
    cp $out $t/out.jsonl
    python3 $t/check.py $t/schema.json $t/out.jsonl $members || complain "trellis tag $*: not as the schema says"
}
for threads in 1 2; do
    valid "text offsets spans" -j $threads -m $t/crf $t/test
    valid "text offsets spans" -j $threads -m $t/crf --format text $t/text
    want "the sentence is as it stands in the text" python3 -c "
import json
first, second = map(json.loads, open('$t/out.jsonl', encoding='utf-8'))
assert first['text'] == 'Carrowby began in\nDublin, where “José O’Brien” lives.', first['text']
assert second['text'] == 'She   went to New  York.', second['text']
assert second['offsets'][1] == [6, 10]"
done
valid "spans marginals" -m $t/crf --marginals $t/test
cp $t/out.jsonl $t/marginals.jsonl
run 0 tag -m $t/crf --marginals $t/test
want "marginals are those of the columns" python3 -c "
import json
rows = [float(line.split()[-1]) for line in open('$out') if line.strip()]
values = [p for line in open('$t/marginals.jsonl') for p in json.loads(line)['marginals']]
assert len(rows) == len(values) and all(abs(a - b) < 6e-5 for a, b in zip(rows, values))"
valid "all_marginals" -m $t/crf --all-marginals $t/test
valid "nbest" -m $t/crf --nbest 3 $t/test
want "n-best lists have probabilities" grep -q '"nbest":\[{"labels":\[[^]]*\],"score":[-0-9.e+]*,"probability":' $t/out.jsonl
valid "spans nbest" -m $t/perceptron --nbest 2 $t/test
want "a model without probabilities gives none" sh -c "! grep -q probability $t/out.jsonl"
valid "text" -m $t/pos data/english/test.conll
want "labels that mark no spans have none" sh -c "! grep -q '\"spans\"' $t/out.jsonl"
valid "spans" -m $t/crf --threshold 0.9 $t/test

# JSON in: other members stay, what was there of ours is replaced, and a text of the user's is used if it fits.
printf '%s\n' '{"id":7,"tokens":["In","Dublin","."],"text":"In  Dublin.","spans":[1],"nbest":0}' \
    '{"id":8,"tokens":["In","Dublin","."],"text":"something else"}' >$t/in.jsonl
valid "text spans" -m $t/crf $t/in.jsonl
want "offsets refer to the text of the input" grep -q '^{"id":7,.*"offsets":\[\[0,2\],\[4,10\],\[10,11\]\]' $t/out.jsonl
want "old members are replaced" test "$(grep -c nbest $t/out.jsonl)" = 0
want "a text that does not fit stays, without offsets" grep -q '^{"id":8,.*"text":"something else","labels":\[[^]]*\],"spans"' $t/out.jsonl
run 0 tag -m $t/crf $t/out.jsonl
want "output is input" test "$(wc -l <$out)" = 2
printf '# text = Elle dort.\n1\tElle\t_\tPRON\t_\t_\t_\t_\t_\t_\n2\tdort\t_\tVERB\t_\t_\t_\t_\t_\t_\n3\t.\t_\tPUNCT\t_\t_\t_\t_\t_\t_\n\n' >$t/a.conllu
valid "text" -m $t/crf $t/a.conllu
want "CoNLL-U has the text in a comment" grep -q '"text":"Elle dort."' $t/out.jsonl
finish
