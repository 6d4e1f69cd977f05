# Models with 16-bit weights: conversion in both directions, and every subcommand on them.
. tests/cli/lib.sh
t=$TRELLIS_TMP
data=data/english/test.conll

run 0 train -q -t crf -e 5 --bits 16 -f id -m $t/trained data/english/dev.conll
run 0 train -q -t crf -e 5 -f id -m $t/large data/english/dev.conll
run 0 convert -m $t/large --bits 16 -o $t/small
want "train and convert give the same model" cmp $t/trained $t/small
want "it is smaller" test "$(stat -c %s $t/small)" -lt "$(stat -c %s $t/large)"
run 0 convert --model $t/small -o $t/back
run 0 convert --model $t/back --bits 16 -o $t/again
want "nothing more is lost" cmp $t/small $t/again
run 0 info $t/small
want "info names the bits" grep -q '^bits  *16 per weight' $out
run 0 info $t/back
want "info names 32 bits" grep -q '^bits  *32 per weight' $out

run 0 tag -m $t/large $data
cp $out $t/tagged
for model in small back; do
    run 0 tag -m $t/$model $data
    want "$model gives nearly the same labels" test "$(diff $out $t/tagged | grep -c '^>')" -le 2
    cp $out $t/tagged-$model
done
want "32 bits of 16 give the same labels" cmp $t/tagged-small $t/tagged-back
run 0 eval -m $t/small $data
head -n 40 $data >$t/few
for command in inspect export "export --json" "info --json"; do
    run 0 $command $t/small
    cp $out $t/of-small
    run 0 $command $t/back
    sed -i 's/"bits":[0-9]*,"dictionary_words":0,"bytes":[0-9]*//; s/"weights":[0-9]*//' $out $t/of-small
    want "$command says the same of both" cmp $out $t/of-small
done
run 0 explain -m $t/small $t/few
run 0 show -m $t/small $t/few
run 0 report -m $t/small -o $t/page.html $t/few
run 0 train -q -t crf -e 2 -f id --from $t/small -m $t/warm data/english/dev.conll

run 0 convert --linear data/hmm/pidgin.txt -o $t/hmm
run 1 convert -m $t/hmm --bits 16 -o $t/none
want "an infinite weight is named" grep -q 'infinite weight' $err
want "nothing is written" test ! -e $t/none
run 0 train -q -t hmm --bits 16 -m $t/hmm data/english/dev.conll
run 0 tag -m $t/hmm $data
run 0 sample -m $t/hmm -n 100
run 2 convert -m $t/small --bits 8 -o $t/none
run 2 convert --bits 16 $data
run 2 convert -m $t/small --bits 16
run 2 train --bits 64 -m $t/none $data
run 1 convert -m $data --bits 16 -o $t/none
finish
