# The output of `trellis features`.
. tests/cli/lib.sh
t=$TRELLIS_TMP

run 0 presets
want "the presets are listed" grep -q '^pos  ' $out
want "with their recipes" grep -q '^  *-t crf -a sgd' $out
for preset in $(sed -n 's/^\([a-z][a-z]*\) .*/\1/p' $out); do
    run 0 presets --show $preset
    want "the preset $preset has a text" test -s $out
    cp $out $t/$preset.tpl
    columns $t/corpus The/DT/B-NP dog/NN/I-NP
    run 0 features -f $preset $t/corpus
    cp $out $t/by_name
    run 0 features -f $t/$preset.tpl $t/corpus
    want "the text of $preset means the same as its name" diff $t/by_name $out
done
run 0 features --functions
want "the functions are listed" test -s $out
check presets_unknown 2 presets --show nothing
check presets_argument 2 presets ner

# The command that a recipe stands for gives the same weights as the preset's name.
recipe=$($TRELLIS presets --show ner | sed -n '/^# -f ner:/{n;s/^#  *trellis train \(.*\) -m MODEL FILE/\1/p}')
want "the recipe is shown as a command" test -n "$recipe"
head -60 data/english/train.conll >$t/few
run 0 train -q -f ner -m $t/by_name $t/few
# shellcheck disable=SC2086
run 0 train -q $recipe -m $t/by_command $t/few
for model in by_name by_command; do
    $TRELLIS export $t/$model | grep -v '^note' >$t/$model.txt
done
want "a recipe is what it says" diff $t/by_name.txt $t/by_command.txt

run 1 features -f $t/no/such/file $t/corpus
finish
