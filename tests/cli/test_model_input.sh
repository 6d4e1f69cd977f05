# A model remembers how its training data was read; other input is refused, with what to type.
. tests/cli/lib.sh
t=$TRELLIS_TMP

# says STATUS SENTENCE ARGUMENT...
says() {
    local status=$1 sentence=$2
    shift 2
    run "$status" "$@"
    want "trellis $* says: $sentence" grep -qxF -- "trellis: $sentence" "$err"
}

head -n 3000 data/english/train.conll >$t/train
head -n 600 data/english/test.conll >$t/test
cut -f 1-2 $t/train >$t/words
run 0 train -q -e 2 --label 2 -f pos -m $t/pos $t/train
run 0 train -q -e 2 --label 3 -f chunk -m $t/chunk $t/train
run 0 train -q -e 2 -m $t/two $t/words

# The label column is that of the training, unless another is given.
run 0 eval -m $t/pos $t/test
cp $out $t/report
run 0 eval -m $t/pos --label 2 $t/test
want "eval takes the label column of the training" cmp $out $t/report
for threads in 1 2; do
    says 1 "the model knows none of the gold labels, such as 'O'; --label says which column has the labels" \
        eval -j $threads -m $t/pos --label 4 $t/test
done
run 0 report -m $t/pos -o $t/report.html $t/test
says 1 "the model knows none of the gold labels, such as 'O'; --label says which column has the labels" \
    report -m $t/pos --label 4 -o $t/report.html $t/test
run 0 eval -m $t/chunk --strict $t/test

# Running text where columns are expected.
echo 'Jan woont in Gent .' >$t/text
for threads in 1 2; do
    input=$t/text
    says 1 "-:1: a line of 5 words, where the model expects one token per line in 2 columns; for running text use --format text" \
        tag -j $threads -m $t/two --output-format inline
    input=/dev/null
done
echo 'Jan slaapt .' >$t/short
says 1 "TMP/short:1: a line of 3 words, where the model expects one token per line in 2 columns; for running text use --format text" \
    tag -m $t/two $t/short
run 0 tag -m $t/two --format text $t/text
want "with --format text every word is tagged" test "$(grep -c . $out)" = 5

# A column that the templates use is missing, or one that had the label.
cut -f 1,3 $t/test >$t/without
says 1 "TMP/without:1: the label column '3' is column 3, but 2 columns found; --label takes another one" \
    eval -m $t/chunk $t/without
cut -f 1 $t/test >$t/one
missing="column 2 is missing: the model was trained on 4 columns and its templates use column 2, but here there is only 1; add it, or name the columns that there are with --columns"
says 1 "TMP/one: $missing" tag -m $t/chunk $t/one
says 1 "TMP/one: $missing" explain -m $t/chunk $t/one
says 1 "TMP/one: $missing" show -m $t/chunk $t/one
run 0 tag -m $t/two $t/one
want "columns that no template uses may be missing" test ! -s $err
says 0 "warning: TMP/test has 4 columns, but the model was trained on 2; columns are taken by their position" \
    tag -m $t/two $t/test

# Names, separator and format.
columns $t/named a/X/B-P b/Y/O "|" c/X/B-P
run 0 train -q --columns word,pos,chunk -f chunk -m $t/names $t/named
run 0 info $t/names
for note in 'input-format         columns' 'input-columns        3' 'input-names          word,pos,chunk' \
    'input-label          3' 'input-used           1,2' 'input-scheme         iob2'; do
    want "the model has the note: $note" grep -qxF "$note" $out
done
printf 'New York\tL\n\n' >$t/tabs
run 0 train -q --separator tab -m $t/tab $t/tabs
run 0 tag -m $t/tab $t/tabs
want "the separator is that of the training" grep -qx "New York	L	L" $out
printf 'B\tw=a\nO\tw=b\n\n' >$t/attributes
run 0 train -q --format crfsuite -m $t/ready $t/attributes
run 0 tag -m $t/ready $t/attributes
want "ready-made attributes need no --format" grep -qx "B	w=a" $out
run 0 eval -m $t/ready $t/attributes
says 1 "TMP/attributes: the model was trained on ready-made attributes, and this is read as columns; use --format crfsuite" \
    tag --format columns -m $t/ready $t/attributes

# Another scheme.
run 0 convert --scheme iob2 --to-scheme iobes --label 3 -o $t/iobes $t/test
says 0 "warning: the gold labels are in the scheme iobes, and the model was trained on iob2: spans are scored correctly, but labels differ; 'trellis convert --scheme iobes --to-scheme iob2' converts the file" \
    eval -m $t/chunk $t/iobes
grep FB1 $out | head -n 1 >$t/spans
run 0 convert --scheme iob2 --to-scheme iob1 --label 3 -o $t/iob1 $t/test
says 0 "warning: the gold labels are in the scheme iob1, and the model was trained on iob2: spans are scored correctly, but labels differ; 'trellis convert --scheme iob1 --to-scheme iob2' converts the file" \
    eval -m $t/chunk $t/iob1
run 0 eval -m $t/chunk $t/test
want "the same scheme is no reason to warn" test ! -s $err
want "spans are scored correctly" test "$(grep FB1 $out | head -n 1 | sed 's/.*precision/precision/')" = "$(sed 's/.*precision/precision/' $t/spans)"

# The tokeniser.
run 0 train -q -e 1 --tokenizer romance -m $t/french $t/words
echo "Qu'a-t-il dit ?" >$t/question
run 0 tag --format text -m $t/french $t/question
want "the tokeniser is that of the training" test "$(awk 'NF { printf "%s%s", s, $1; s = " " }' $out)" = "Qu' a -t-il dit ?"
run 0 tag --format text --tokenizer whitespace -m $t/french $t/question
want "unless another is given" test "$(awk 'NF { printf "%s%s", s, $1; s = " " }' $out)" = "Qu'a-t-il dit ?"

# Nothing to score.
says 1 "there is nothing to score: the input has no tokens" eval -m $t/pos /dev/null
says 1 "there is nothing to score: the input has no tokens" eval /dev/null
finish
