# The output of `trellis features`.
. tests/cli/lib.sh
t=$TRELLIS_TMP

run 0 features --list
want "the presets are listed" grep -qx pos $out
for preset in $(cat $out); do
    run 0 features --show $preset
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
check features_no_preset 2 features --show nothing
run 1 features -f $t/no/such/file $t/corpus
finish
