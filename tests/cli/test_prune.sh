# Pruned training and tagging: coarse to fine, from labels alone to order 3.
. tests/cli/lib.sh
t=$TRELLIS_TMP
head -n 4000 data/english/train.conll >$t/train
head -n 1500 data/english/test.conll >$t/test
head -n 500 $t/train >$t/known
learn="train -q -t crf -a sgd -e 3 --rate 0.1 --label 3 -f chunk"

# Whatever the threads, the model is the same; it says what was pruned, and is tagged so.
for order in 1 2 3; do
    run 0 $learn --order $order --prune 0.02 --batch 4 -j 1 -m $t/pruned$order $t/train
    run 0 $learn --order $order --prune 0.02 --batch 4 -j 3 -m $t/threads $t/train
    want "order $order does not depend on the threads" cmp $t/pruned$order $t/threads
    run 0 tag -m $t/pruned$order $t/test
    cp $out $t/tagged
    run 0 tag -m $t/pruned$order --prune 0.02 -j 3 $t/test
    want "what the model says is what it is tagged with" cmp $out $t/tagged
    run 0 eval -m $t/pruned$order --label 3 $t/test
    want "order $order learns" awk '/^accuracy/ { found = $2 + 0 > 88 } END { exit !found }' $out
done
run 0 info $t/pruned2
want "the model says what was pruned" grep -q 'pruned.*0\.02' $out

# As text and back; and damaged models.
run 0 export -m $t/pruned2 -o $t/text
run 0 import -m $t/again $t/text
run 0 tag -m $t/pruned2 $t/test
cp $out $t/tagged
run 0 tag -m $t/again $t/test
want "a model read from text is pruned as well" cmp $out $t/tagged
for note in 7 -1 nan some; do
    sed -E "s/^(note.pruned.).*/\1$note/" $t/text >$t/damaged
    run 1 import -m $t/none $t/damaged
    want "a threshold of $note is refused" grep -q "its note 'pruned' is invalid" $err
done
sed -E 's/^(note.type.).*/\1hmm/' $t/text >$t/damaged
run 1 import -m $t/none $t/damaged
want "only a crf is pruned" grep -q "its note 'pruned' is invalid" $err

# Exact search with the same model, and a pruned search with an exact one.
run 0 tag -m $t/pruned2 --prune 0 --nbest 2 $t/test
run 0 tag -m $t/pruned2 --prune 0 $t/test
cp $out $t/exact
run 0 tag -m $t/pruned2 --prune 1e-7 $t/test
want "next to nothing pruned is nearly exact" test "$(diff $t/exact $out | grep -c '^<')" -le 1
run 0 $learn --order 2 -m $t/whole $t/train
run 0 tag -m $t/whole $t/test
cp $out $t/exact
run 0 tag -m $t/whole --prune 1e-7 $t/test
want "of a model that was not pruned as well" test "$(diff $t/exact $out | grep -c '^<')" -le 1
run 0 tag -m $t/whole --prune 1 $t/test
want "with all pruned but the best of each token there still are labels" \
    test "$(grep -c . $out)" = "$(grep -c . $t/test)"

# Forbidden transitions, given labels, probabilities and explanations.
run 0 $learn --order 2 --prune 0.02 --constrain iob -m $t/steps $t/train
for prune in 0.02 1; do
    run 0 tag -m $t/steps --prune $prune --output-format columns $t/test
    want "no forbidden transition is taken" awk '
        !NF { before = "O"; next }
        { type = substr($NF, 3) }
        $NF ~ /^I-/ && before != "B-" type && before != "I-" type { exit 1 }
        { before = $NF }' $out
done
run 0 tag -m $t/pruned2 --constrain iob $t/test
run 0 tag -m $t/pruned2 --nbest 3 $t/known
want "the first of several labellings is the best" \
    diff <(awk '/^#/ { first = $2 == 1; next } first' $out) <("$TRELLIS" tag -m $t/pruned2 $t/known)
for options in --marginals "--decode posterior" "--threshold 0.5" "--forced 3"; do
    run 0 tag -m $t/pruned3 $options $t/known
done
want "labels that are given are taken" awk '$3 != $NF { exit 1 }' $out
run 0 explain -m $t/pruned2 --sequence 2 $t/test
run 0 inspect -m $t/pruned2

# Incompatible options.
run 0 train -q -t perceptron -e 1 --label 3 -f chunk -m $t/perceptron $t/train
run 0 train -q -t maxent -e 1 --label 3 -f chunk -m $t/maxent $t/train
check prune_perceptron 1 tag -m $t/perceptron --prune 0.01 $t/test
check prune_maxent 1 tag -m $t/maxent --prune 0.01 $t/test
check prune_beam 2 tag -m $t/pruned2 --decode beam $t/test
check prune_too_much 2 tag -m $t/pruned2 --prune 2 $t/test
check prune_lbfgs 2 train -t crf --prune 0.01 --label 3 -m $t/none $t/train
check prune_other_type 2 train -t memm --prune 0.01 --label 3 -m $t/none $t/train
check prune_partial 2 train -t crf -a sgd --prune 0.01 --partial --label 3 -m $t/none $t/train
check prune_order_0 2 train -t crf -a sgd --prune 0.01 --order 0 --label 3 -m $t/none $t/train
check prune_counted 2 train -t crf -a sgd --prune 0.01 --counted 2 --label 3 -m $t/none $t/train
finish
