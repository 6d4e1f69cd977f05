# N-best lists, their probabilities, and beam search.
. tests/cli/lib.sh
t=$TRELLIS_TMP
columns $t/train the/DT cat/NN sleeps/VB "|" a/DT dog/NN barks/VB loudly/RB "|" \
    dogs/NN chase/VB the/DT cats/NN "|" cats/NN sleep/VB
columns $t/test the/DT dog/NN sleeps/VB "|" cats/NN
run 0 train -q -t crf --label 2 -m $t/crf $t/train
run 0 train -q -t perceptron -e 3 --label 2 -m $t/perceptron $t/train

# The N best, best first; all of them if there are fewer.
run 0 tag -m $t/crf $t/test
cp $out $t/best
run 0 tag -m $t/crf --nbest 3 $t/test
cp $out $t/three
want "three labellings of each of two sequences" test "$(grep -c '^# ' $t/three)" = 6
want "a rank, a score and a probability" test "$(grep -cE '^# [1-3] -?[0-9]+\.[0-9]{6} [01]\.[0-9]{6}$' $t/three)" = 6
want "the first is the best" diff <(awk '/^#/ { first = $2 == 1; next } first' $t/three) $t/best
want "scores fall" awk '/^#/ { if ($2 > 1 && $3 > last) exit 1; last = $3 }' $t/three
want "no labelling occurs twice" test "$(awk '/^#/ { next } { printf "%s", NF ? $3 "," : $3 "\n" }' $t/three | sed -n 1,3p | sort -u | wc -l)" = 3
run 0 tag -m $t/crf --nbest 1 $t/test
want "--nbest 1 is as without" cmp $out $t/best
columns $t/one cats/NN
run 0 tag -m $t/crf --nbest 1000 $t/one
want "one token has as many labellings as there are labels" test "$(grep -c '^# ' $out)" = 4
want "their probabilities sum to 1" awk '/^#/ { sum += $4 } END { exit !(sum > 0.99999 && sum < 1.00001) }' $out
for ways in "-j 3" --unbuffered "-j 2 -o $t/o"; do
    rm -f $t/o
    run 0 tag -m $t/crf --nbest 3 $ways $t/test
    [ -e $t/o ] || cp $out $t/o
    want "tag --nbest 3 $ways gives the same" cmp $t/o $t/three
done
run 0 tag -m $t/perceptron --nbest 2 $t/test
want "a perceptron has scores but no probabilities" test "$(grep -cE '^# [12] -?[0-9]+\.[0-9]{6}$' $out)" = 4
run 0 tag -m $t/crf --nbest 2 --output-format wordtag $t/test
want "other formats have the same comments" diff <(grep '^#' $out) <(grep '^# [12]' $t/three)
check nbest_zero 2 tag -m $t/crf --nbest 0 $t/test
check nbest_posterior 2 tag -m $t/crf --nbest 2 --decode posterior $t/test
check cost_viterbi 2 tag -m $t/none --cost $t/none $t/none
run 2 eval -m $t/crf --nbest 2 $t/test

# The probability of each label.
run 0 tag -m $t/crf --marginals $t/test
want "one more column" diff <(sed -E 's/ [01]\.[0-9]{4}$//' $out) $t/best
want "which has a probability for each token" test "$(grep -cE ' [01]\.[0-9]{4}$' $out)" = 4
run 0 tag -m $t/crf --marginals --nbest 1000 $t/one
want "those of a sequence of one token are those of the labellings" \
    awk '/^#/ { p = $4; next } NF && (p - $4 > 0.0001 || $4 - p > 0.0001) { exit 1 }' $out
run 0 tag -m $t/crf --marginals --decode posterior $t/test
want "with posterior decoding as well" test "$(grep -cE ' [01]\.[0-9]{4}$' $out)" = 4
tr ' ' '\t' <$t/test >$t/tabs
run 0 tag -m $t/crf --marginals $t/tabs
want "after a tab where the others are" test "$(grep -cP '\t[01]\.[0-9]{4}$' $out)" = 4
check marginals_perceptron 1 tag -m $t/perceptron --marginals $t/test
check marginals_wordtag 2 tag -m $t/crf --marginals --output-format wordtag $t/test

# Beam search.
head -n 4000 data/english/train.conll >$t/long
head -n 1500 data/english/test.conll >$t/long_test
run 0 train -q -t crf -a sgd -e 3 --label 3 -f chunk --order 2 -m $t/chunks $t/long
run 0 tag -m $t/chunks $t/long_test
cp $out $t/exact
run 0 tag -m $t/chunks --decode beam --beam 100000 --check $t/long_test
want "a beam of all states is exact" cmp $out $t/exact
want "and --check says so" grep -q '^trellis: 100.00 % of [0-9]* sequences have the same score as with exact search$' $err
for width in 1 3; do
    run 0 tag -m $t/chunks --decode beam --beam $width --check -j 2 $t/long_test
    cp $out $t/beam
    share=$(sed -nE 's/^trellis: ([0-9.]+) % of .*/\1/p' $err)
    awk -v other=$t/beam '
        { getline line <other }
        NF { seen = 1; wrong += $0 != line }
        !NF { sequences += seen; same += seen && !wrong; seen = wrong = 0 }
        END { sequences += seen; same += seen && !wrong; printf "%.2f\n", 100 * same / sequences }' $t/exact >$t/share
    want "--check of a beam of $width: $share, not $(cat $t/share)" test "$share" = "$(cat $t/share)"
done
run 0 tag -m $t/chunks --decode beam $t/long_test
want "without --check there is no message" test ! -s $err
run 0 eval -m $t/chunks --label 3 --decode beam --beam 2 $t/long_test
check beam_zero 2 tag -m $t/chunks --decode beam --beam 0 $t/test
check check_viterbi 2 tag -m $t/chunks --check $t/test
finish
