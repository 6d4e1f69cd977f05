# Mistakes in data: trellis check reports each with its place, and a training warns of them.
. tests/cli/lib.sh
t=$TRELLIS_TMP

# finds SENTENCE ARGUMENT...: in the report of check, and nothing else
finds() {
    local sentence=$1
    shift
    run 1 check "$@"
    sed -i "s|$t|TMP|g" $out
    want "check $* reports: $sentence" grep -qxF -- "$sentence" "$out"
    want "check $* reports nothing else" test "$(grep -c '\]$' "$out")" = 1
}
# warns SENTENCE ARGUMENT...: the same from a training
warns() {
    local sentence=$1
    shift
    run 0 train -e 1 -m $t/model "$@"
    want "train $* warns: $sentence" grep -qxF -- "trellis: warning: $sentence" "$err"
}
# both SENTENCE KIND FILE
both() {
    finds "$1 [$2]" "$3"
    warns "$1" "$3"
}

run 0 check data/english/train.conll
want "a summary" grep -qx 'columns, 4 columns: 450 sequences, 6524 tokens, longest sequence 25, 9 labels (scheme iob2)' $out
want "clean data" grep -qx 'nothing suspicious found' $out
run 0 train -e 1 -m $t/model data/english/train.conll
want "no warning about clean data" test "$(grep -c warning $err)" = 0

columns $t/illegal a/B-X b/I-X c/O "|" d/I-Y e/O f/I-X g/B-X h/O
both "TMP/illegal:5: 2 labels break the scheme iob2, such as I-Y after the start; 'trellis convert --scheme iob2 --to-scheme iob2' repairs this" \
    illegal-labels $t/illegal
run 0 convert --scheme iob2 --to-scheme iob2 -o $t/repaired $t/illegal
want "what the message says repairs it" "$TRELLIS" check $t/repaired
columns $t/iob1 a/I-X b/I-X c/B-X "|" d/I-Y e/O
run 0 check $t/iob1
want "iob1 is recognised" grep -q '(scheme iob1)$' $out
columns $t/inside a/I-X b/I-X c/O
run 0 check $t/inside
want "iob1 without any B" grep -q '(scheme iob1)$' $out
columns $t/begins a/B-X b/O c/B-Y
run 0 check $t/begins
want "iob2 without any I" grep -q '(scheme iob2)$' $out
columns $t/iobes a/B-X b/E-X c/S-X "|" d/B-Y e/O "|" f/I-X
both "TMP/iobes:6: 3 labels break the scheme iobes, such as O after B-Y; 'trellis convert --scheme iobes --to-scheme iobes' repairs this" \
    illegal-labels $t/iobes
columns $t/partial a/B-X b/_ c/I-X "|" d/B-Y e/O
run 0 check $t/partial

columns $t/docstart -DOCSTART-/O "|" a/B-X b/O "|" -DOCSTART-/O "|" c/O
both "TMP/docstart:1: 2 sequences begin with -DOCSTART-, the mark of a new document, which is then learned and scored like text; remove them, unless templates look at documents" \
    document-marks $t/docstart
run 0 check --context 2 $t/docstart
printf 'columns word\nnode word\nnode written\n' >$t/written.tpl
run 0 train -q -t crf -f $t/written.tpl -m $t/written.model $t/docstart
want "documents are no mistake for templates that look at them" test ! -s $err

sed '/^$/d' data/english/train.conll >$t/giant
both "TMP/giant:1: all 6524 tokens are one sequence; are the blank lines between sequences missing?" one-sequence $t/giant
{ for i in $(seq 200); do printf 'a X\nb Y\n\n'; done; for i in $(seq 700); do printf 'a X\nb Y\n'; done; } >$t/long
both "TMP/long:601: a sequence of 1400 tokens, where the mean is 9; is a blank line missing?" long-sequence $t/long

columns $t/single a/O b/O "|" c/O
both "TMP/single: all tokens have the label 'O'; --label says which column has the labels" one-label $t/single
for i in $(seq 120); do echo "X w$i"; [ $((i % 10)) = 0 ] && echo; done >$t/many
both "TMP/many: 120 different labels for 120 tokens; --label says which column has the labels" many-labels $t/many

columns $t/empty a/_/X b/_/Y "|" c/_/X
both "TMP/empty: column 2 is empty: every cell is '_'" empty-column $t/empty
printf 'a\t\tX\nb\t\tY\n\n' >$t/tabs
finds "TMP/tabs: column 2 is empty: every cell is without text [empty-column]" --separator tab $t/tabs

printf 'caf\303\251 X\nna\357ve Y\n\n' >$t/mixed
finds "TMP/mixed:2: mixed encodings: 1 cell is not valid UTF-8, while 1 with letters beyond ASCII is; convert the text that is not UTF-8 [mixed-encodings]" \
    $t/mixed
warns "TMP/mixed:2: mixed encodings: 1 cell is not valid UTF-8, while 1 with letters beyond ASCII is; convert the text that is not UTF-8" \
    --invalid-utf8 keep $t/mixed
printf 'caf\351 X\nna\357ve Y\n\n' >$t/latin
finds "TMP/latin:1: 2 cells are not valid UTF-8; convert the file, for example with iconv -f latin1 -t utf8 [not-utf8]" $t/latin
printf 'caf\303\203\302\251 X\nb Y\n\n' >$t/twice
both "TMP/twice:1: 1 cell seems encoded in UTF-8 twice, so that an accented letter shows as two" encoded-twice $t/twice

head -n 200 data/english/train.conll | tac | sed '1,/^$/d' | tac >$t/dev
shared=$(awk 'NF { n++ } !NF { if (n >= 5) c++; n = 0 } END { if (n >= 5) c++; print c }' $t/dev)
sentence="TMP/dev: $shared of $shared dev sequences are also in the training data, which makes the dev score too high"
finds "$sentence [duplicates]" --dev $t/dev data/english/train.conll
warns "$sentence" --dev $t/dev data/english/train.conll
run 0 check --dev data/english/test.conll data/english/train.conll

# Several files, standard input, malformed input.
run 1 check $t/iob1 $t/docstart
want "the file is named" grep -q "^$t/docstart:1: 2 sequences" $out
input=$t/single
run 1 check
want "standard input has a name" grep -q '^standard input: all tokens' $out
input=/dev/null
printf 'a b X\nc Y\n' >$t/ragged
run 1 check $t/ragged
want "what cannot be read is an error" grep -q '^trellis: TMP/ragged:2' $err
finish
