# Chains: several models run one after the other, each adding a column for the next, bound by name.
. tests/cli/lib.sh
t=$TRELLIS_TMP
names=word,pos,chunk,entity
train=data/english/train.conll

run 0 train -q -e 3 --columns $names --label pos -f pos -m $t/pos $train
run 0 train -q -e 3 --columns $names --label chunk -f chunk -m $t/chunk $train
run 0 train -q -t crf -a sgd -e 3 --columns $names --label entity -f ner -m $t/ner $train
cut -f 1 data/english/test.conll >$t/words
printf 'Ada moved to Carrowby. She sold it in Dublin.\n' >$t/text

# The same as one model after the other.
run 0 tag -m $t/pos --columns word -o $t/one $t/words
run 0 tag -m $t/chunk --columns word,pos -o $t/two $t/one
run 0 tag -m $t/ner --columns word,pos,chunk -o $t/three $t/two
for threads in 1 2; do
    run 0 tag -j $threads -m $t/pos -m $t/chunk -m $t/ner --columns word $t/words
    want "a chain is one model after the other ($threads)" diff <(awk '{ $1 = $1 } 1' $t/three) <(awk '{ $1 = $1 } 1' $out)
done
run 0 tag -m $t/pos -m $t/chunk -m $t/ner --format text $t/text
want "from running text to entities" test "$(awk 'NF { print NF; exit }' $out)" = 4
want "every token is there" test "$(grep -c . $out)" = 11
run 0 tag -m $t/pos -m $t/chunk -m $t/ner --format text --output-format jsonl $t/text
want "JSON has the columns by name, the text and the spans" python3 -c "
import json
first, second = map(json.loads, open('$out'))
assert first['text'] == 'Ada moved to Carrowby.' and second['text'] == 'She sold it in Dublin.'
for object in first, second:
    assert len(object['pos']) == len(object['chunk']) == len(object['tokens']) == len(object['labels'])
    assert 'spans' in object and 'probability' in str(object['spans'] or 'probability')"

# By name: an order that does not fit is refused, and a column that is there is replaced by the prediction.
run 1 tag -m $t/chunk -m $t/pos --format text $t/text
want "a column that no model adds" grep -q "the templates need column 2, but there is 1 column" $err
sed 's/\t[A-Z]*\t/\tWRONG\t/' data/english/test.conll | cut -f 1-2 >$t/wrong
run 0 tag -m $t/pos -m $t/chunk --columns word,pos $t/wrong
awk 'NF { print $1, $3, $4 } !NF' $out >$t/replaced
run 0 tag -m $t/pos -m $t/chunk --columns word $t/words
want "a predicted column takes the place of one with its name" diff <(awk '{ $1 = $1 } 1' $out) $t/replaced

# CoNLL-U: predicted columns take the places of those with their names, the others stay.
awk -F '\t' -v OFS='\t' 'NF { print ++n, $1, "_", $2, $3, "_", "0", "dep", "_", "_" } !NF { n = 0; print }' \
    data/english/test.conll >$t/test.conllu
awk 'NR > 1000' $t/test.conllu >$t/train.conllu
printf 'columns form upos\nnode form\nnode upos[-1..1]\n' >$t/xpos.tpl
run 0 train -q -e 3 -f pos --label UPOS -m $t/upos $t/train.conllu
run 0 train -q -e 3 -f $t/xpos.tpl --label XPOS -m $t/xpos $t/train.conllu
run 0 tag -m $t/upos --label UPOS -o $t/one.conllu $t/test.conllu
run 0 tag -m $t/xpos --label XPOS -o $t/two.conllu $t/one.conllu
want "some tags differ" test "$(diff $t/test.conllu $t/one.conllu | wc -l)" -gt 4
run 0 tag -m $t/upos -m $t/xpos --label XPOS $t/test.conllu
want "CoNLL-U stays CoNLL-U" diff $t/two.conllu $out

# Without names, columns are where training had them.
run 0 train -q -e 3 --label 2 -f pos -m $t/pos2 $train
run 0 train -q -e 3 --label 3 -f chunk -m $t/chunk2 $train
run 0 tag -m $t/pos2 -m $t/chunk2 --format text $t/text
want "by position" test "$(awk 'NF { print NF; exit }' $out)" = 3
run 0 tag -m $t/pos2 -m $t/chunk2 /dev/null
run 2 tag -m - -m $t/chunk
run 1 tag -m $t/pos -m $t/nothing $t/words
finish
