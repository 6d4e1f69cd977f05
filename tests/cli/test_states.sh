# Learning without labels on the command line; tests/train/test_em.c has the figures.
. tests/cli/lib.sh
t=$TRELLIS_TMP

# Two kinds of words that alternate: two states must separate them, whatever their names.
for i in 1 2 3 4 5 6 7 8; do
    columns $t/turn$i the/D "dog$((i % 3))/N" a/D "cat$((i % 2))/N" "|"
done
cat $t/turn? >$t/labelled
cut -d' ' -f1 $t/labelled >$t/words

run 0 train -q -t hmm -a em --states 2 --restarts 5 --alpha 0.01 -m $t/two.model $t/words
run 0 eval --clusters -m $t/two.model $t/labelled
want "two states are found" grep -q "one-to-one: 100.00%" $out
run 0 train -q -t hmm -a viterbi --states 2 --restarts 10 --alpha 0.01 -m $t/hard.model $t/labelled
run 0 eval --clusters -m $t/hard.model $t/labelled
want "two states are found by hard EM" grep -q "one-to-one: 100.00%" $out

# A dictionary of two words is enough to name them.
printf 'the\tD\ndog1\tN\n' >$t/dictionary
run 0 train -q -t hmm -a em --dictionary $t/dictionary --alpha 0.01 -m $t/named.model $t/words
run 0 eval -m $t/named.model $t/labelled
want "a dictionary names the states" grep -q "accuracy: 100.00%" $out

# One labelled sentence, and many without labels.
run 0 train -q -t hmm -a em --unlabelled $t/words --unlabelled-weight 0.5 --alpha 0.01 \
    -m $t/half.model $t/turn1
run 0 eval -m $t/half.model $t/labelled
want "one sentence names the states" grep -q "accuracy: 100.00%" $out
run 0 train -q -t hmm -a em --from $t/half.model --label none -m $t/again.model $t/labelled
run 0 eval -m $t/again.model $t/labelled
want "a model names the states" grep -q "accuracy: 100.00%" $out

# Numbers that two labels emit: with labels, without, and what cannot be read.
for i in 1 2 3 4 5 6; do
    columns $t/numbers$i 0.$i/5.$i/low 0.9/5/low 9.$i/-5/high 9.5/-5.$i/high "|"
done
cat $t/numbers? >$t/numbers
run 0 train -q -t hmm --gaussian 1,2 -m $t/numbers.model $t/numbers
run 0 eval -m $t/numbers.model $t/numbers
want "numbers are told apart" grep -q "accuracy: 100.00%" $out
run 0 train -q -t hmm -a em --states 2 --gaussian x,y --columns x,y -m $t/numbers.model $t/numbers
head -n 4 $t/numbers >$t/some
run 0 sample -m $t/numbers.model -n 50
want "numbers are sampled" test "$(awk 'NF == 3 && $1 == $1 + 0 && $2 == $2 + 0' $out | wc -l)" -ge 50
cp $out $t/drawn
run 0 eval --columns x,y -m $t/numbers.model $t/drawn
want "sampled labels are recovered" grep -q "accuracy: 100.00%" $out
run 0 inspect $t/numbers.model
want "means and deviations" grep -q "mean   deviation  column" $out
run 0 explain --columns x,y -m $t/numbers.model $t/some
want "what a number contributes" grep -q " x=0.9$" $out
run 0 show --columns x,y -m $t/numbers.model $t/some
run 0 report --columns x,y -m $t/numbers.model $t/drawn
run 0 eval --clusters --columns x,y -m $t/numbers.model $t/numbers
want "numbers are told apart without labels" grep -q "one-to-one: 100.00%" $out
run 0 info $t/numbers.model
want "the columns are named" grep -q "2 columns: x,y" $out
printf '1 2 low\nNaN 3 high\n' >$t/nan
check states_nan 1 train -q -t hmm --gaussian 1,2 -m $t/no.model $t/nan
check states_nan_tagged 1 tag --columns x,y -m $t/numbers.model $t/nan

# The unknown-word model belongs to the restart that is kept, here the first of four; also if training was
# interrupted and resumed.
head -n 3000 data/english/train.conll >$t/english
em="train -q -t hmm -a em -f hmm --states 5 -e 4 --seed 6"
run 0 $em --restarts 1 -m $t/one.model $t/english
run 0 $em --restarts 4 -m $t/four.model $t/english
"$TRELLIS" export $t/one.model | grep -v ^note >$t/one.text
"$TRELLIS" export $t/four.model | grep -v ^note >$t/four.text
want "the text tells of unknown words" grep -q ^unknown $t/one.text
want "the best start is kept whole" cmp $t/one.text $t/four.text
timeout -s INT 0.15 "$TRELLIS" $em --restarts 4 --checkpoint $t/checkpoint -m $t/part.model $t/english 2>/dev/null
run 0 $em --restarts 4 --checkpoint $t/checkpoint --resume -m $t/resumed.model $t/english
want "resumed, the same model" cmp $t/four.model $t/resumed.model

check states_none 1 train -q -t hmm -a em -m $t/no.model $t/words
check states_zero 1 train -q -t hmm -a em --states 0 -m $t/no.model $t/words
check states_many 1 train -q -t hmm -a em --states 100 -m $t/no.model $t/words
check states_type 2 train -q -t crf --states 3 -m $t/no.model $t/labelled
check states_restarts 2 train -q -t hmm -a em --restarts 3 -m $t/no.model $t/labelled
finish
