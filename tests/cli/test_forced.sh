# Labels given in a column (tag --forced), and tag dictionaries (--dictionary).
. tests/cli/lib.sh
t=$TRELLIS_TMP
columns $t/train the/DT cat/NN sleeps/VB "|" a/DT dog/NN barks/VB loudly/RB "|" dogs/NN chase/VB the/DT cats/NN
run 0 train -q -e 5 -f id -m $t/model $t/train

# labels FILE: the last column of the output, on one line
labels() {
    awk '{ printf "%s%s", sep, NF ? $NF : "|"; sep = " " }' "$out" | sed 's/ |$//'
}

printf 'the\t_\ncat\t\nsleeps\tRB\n\na\tNN|VB\ndog\tDT|_x|NN\n' >$t/bad
printf 'the\t_\ncat\t\nsleeps\tRB\n\na\tRB\ndog\tNN|VB\n' >$t/given
for ways in "-j 1" "-j 2" --unbuffered; do
    run 0 tag -m $t/model $ways --separator tab --label none --forced 2 $t/given
    want "given labels are obeyed with $ways" grep -qE '^DT NN RB [|] RB (NN|VB)$' <(labels)
done
cp $out $t/by_number
run 0 tag -m $t/model --separator tab --label none --columns word,given --forced GIVEN $t/given
want "the column is found by its name" cmp $out $t/by_number
run 0 tag -m $t/model --separator tab --forced last $t/given
want "'last' is the last column" cmp $out $t/by_number
run 1 tag -m $t/model --separator tab --forced 2 $t/bad
want "an unknown label is an error with its line" grep -q "line 6: the model has no label '_x'" $err
run 1 tag -m $t/model --separator tab --forced 3 $t/given
want "a column that is not there is an error" grep -q "no column '3' for --forced" $err
run 2 tag -m $t/model --forced nothing $t/given
want "a name that is not there is an error" grep -q "no column is named 'nothing'" $err

# Given labels that violate the constraints.
echo "DT VB" >$t/steps
columns $t/clash the/DT sleeps/VB
run 1 tag -m $t/model --constrain $t/steps --forced 2 $t/clash
want "given labels that leave no path are an error" grep -q "no sequence of labels" $err

# A dictionary from a file.
printf 'cat\tVB\n' >$t/words
run 1 train -q -f id --dictionary $t/words -m $t/other $t/train
want "a gold label that is not listed is an error" grep -q "token 2, 'cat': the tag dictionary does not list its gold label 'NN'" $err
printf 'cat\tNN\nzebra\tRB\n' >$t/words
run 0 train -q -e 5 -f id --dictionary $t/words -m $t/other $t/train
columns $t/test the zebra sleeps
run 0 tag -m $t/other $t/test
want "the dictionary of a model is obeyed" test "$(labels)" = "DT RB VB"
run 0 info $t/other
want "info tells of the dictionary" grep -q '^tag dictionary  *2 words$' $out

# A learned dictionary changes little on real text.
run 0 train -q -e 3 -f pos --label 2 --dictionary learn --dictionary-count 3 -m $t/learned data/english/train.conll
run 0 eval -m $t/learned --label 2 data/english/test.conll
want "a learned dictionary does not lower the accuracy" awk '/^accuracy:/ { exit !($2 + 0 > 92) }' $out
finish
