# Models of CRFsuite wherever ours are taken, and models written for it.
. tests/cli/lib.sh
t=$TRELLIS_TMP
models=tests/model/foreign/crfsuite
read="--format crfsuite --invalid-utf8 keep"

for name in lbfgs l1 l2sgd ap pa arow values empty ties; do
    test=$models/test.txt
    [ $name != values ] || test=$models/test-values.txt
    run 0 tag -m $models/$name.lcrf $read $test
    cut -f 1 $out >$t/labels
    want "$name: the labels of CRFsuite" \
        cmp $t/labels <(grep -v '^@' $models/$name.out | sed 's/:[0-9.]*$//')
    # The same from one of our own files, and after writing that for CRFsuite.
    run 0 convert -m $models/$name.lcrf -o $t/ours.model
    run 0 tag -m $t/ours.model $read $test
    want "$name converted: the same labels" cmp $t/labels <(cut -f 1 $out)
    run 0 convert -m $t/ours.model --to crfsuite -o $t/again.lcrf
    run 0 tag -m $t/again.lcrf $read $test
    want "$name written: the same labels" cmp $t/labels <(cut -f 1 $out)
done

model=$models/l1.lcrf

# Templates: the attributes are those that `trellis features` prints.
printf 'columns word pos\nnode word[-1..1]\nnode suffix(word,2)\nnode word & pos[-1]\nstep\n' >$t/plain.tpl
data="--columns word,pos,chunk,entity --label chunk"
run 0 train -t crf -a sgd --epochs 2 -q -f $t/plain.tpl $data -m $t/chunk.model data/english/dev.conll
run 0 convert -m $t/chunk.model --to crfsuite -o $t/chunk.lcrf
run 0 features -f $t/plain.tpl $data -o $t/chunk.attributes data/english/test.conll
run 0 tag -m $t/chunk.lcrf --format crfsuite -o $t/chunk.tagged $t/chunk.attributes
run 0 tag -m $t/chunk.model $data -o $t/chunk.own data/english/test.conll
want "the same labels from attributes" \
    cmp <(cut -f 1 $t/chunk.tagged | sed '/^$/d') <(awk 'NF { print $NF }' $t/chunk.own)

# What cannot be done.
run 0 train -t crf -a sgd --epochs 1 -q -f chunk $data -m $t/ends.model data/english/dev.conll
check crfsuite_ends 1 convert -m $t/ends.model --to crfsuite -o $t/none.lcrf
want "no file is left" test ! -e $t/none.lcrf
check crfsuite_to 2 convert -m $model --to wapiti -o $t/none
check crfsuite_to_bits 2 convert -m $model --to crfsuite --bits 16 -o $t/none
check crfsuite_to_corpus 2 convert --to crfsuite $models/test.txt
head -c 3000 $model >$t/cut.lcrf
check crfsuite_truncated 1 info $t/cut.lcrf
finish
