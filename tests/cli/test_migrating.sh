# The commands and options that docs/migrating.md gives in place of those of other tools, on small data.
. tests/cli/lib.sh
t=$TRELLIS_TMP
foreign=tests/model/foreign
attributes="--format crfsuite --invalid-utf8 keep"
columns="--invalid-utf8 keep"
train=$foreign/crfsuite/train.txt test=$foreign/crfsuite/test.txt
learn="train -q -e 2 $attributes -m $t/m"

# From CRFsuite.
for options in "-t crf" "-t crf --l2 2" "-t crf --l1 0.5 --l2 0.1" "-t crf -a sgd" "-t crf -a sgd --rate 0.1" \
    "-t perceptron" "-t perceptron -a pa" "-t perceptron -a pa1 --aggressiveness 2" \
    "-t perceptron -a pa2 --aggressiveness 2 --loss root" "-t perceptron -a arow --variance 2" \
    "-t crf --epsilon 1e-4 --delta 1e-4 --period 5 --history 4" "-t crf --warm-up 0" "-t crf --min-count 2" \
    "-t crf --all-features" "-t crf --dev $test" "-t crf --log $t/log"; do
    # shellcheck disable=SC2086
    run 0 $learn $options $train
done
run 0 tag -m $t/m $attributes $test
cut -f 1 $out >$t/labels
want "labels alone" grep -qx 'B-NP' $t/labels
run 0 tag -m $t/m $attributes --output-format columns $test
want "the reference label, then the prediction" grep -qE $'^[A-Z-]+\t[A-Z-]+$' $out
run 0 tag -m $t/m $attributes --nbest 2 $test
want "score and probability" grep -qE '^# 1 [-0-9.]+ [0-9.]+$' $out
run 0 tag -m $t/m $attributes --marginals --output-format columns $test
run 0 tag -m $t/m $attributes --all-marginals --output-format columns $test
run 0 eval -m $t/m $attributes --details $test
run 0 cv --folds 3 -t crf -e 2 $attributes $train
run 0 export $t/m
cp $out $t/text
run 0 import -m $t/again $t/text
run 0 inspect $t/m
run 0 train -q -e 2 $attributes -t crf --from $foreign/crfsuite/l1.lcrf -m $t/m $train

# From Wapiti.
learn="train -q -e 2 $columns -m $t/m"
train=$foreign/train.txt test=$foreign/test.txt
for options in "-t crf" "-t maxent" "-t memm" "-t crf --dev $test" "-t crf --l1 0.5 --lambda 0.1" "-t crf -a lbfgs" \
    "-t crf -a sgd" "-t crf --period 5 --delta 1e-3" "-t crf --history 4 -j 2"; do
    # shellcheck disable=SC2086
    run 0 $learn $options -f $foreign/wapiti/rich.pattern $train
done
{ echo "strings wapiti"; sed 's/^[UB]/\L&/' $foreign/wapiti/basic.pattern; } >$t/strings.pattern
run 0 $learn -t crf --from $foreign/wapiti/crf.model -f $t/strings.pattern $train
model=$foreign/wapiti/rich.model
run 0 tag -m $model $columns $test
awk 'NF { print $NF } !NF' $out >$t/labels
want "labels alone, and the blank lines" cmp <(grep -c '' $t/labels) <(grep -c '' $test)
cut -f 1,2 $test >$t/unlabelled
run 0 tag -m $model $columns --label none $t/unlabelled
want "the same without labels" cmp <(awk 'NF { print $NF } !NF' $out) $t/labels
run 0 tag -m $model $columns --decode posterior --marginals $test
run 0 tag -m $model $columns --nbest 3 $test
awk -F'\t' -v OFS='\t' 'NF { print $1, $2, (NR == 4 ? "B-VP" : "_") } !NF' $test >$t/forced
run 0 tag -m $model $columns --label none --forced last $t/forced
want "the given label" test "$(awk 'NR == 4 { print $NF }' $out)" = B-VP
run 0 export $model

# From CRF++.
for options in "-t crf" "-t crf --l1 0.5" "-t mira" "-t crf --sigma 2" "-t crf --min-count 2" \
    "-t crf --epsilon 1e-3 -j 2"; do
    # shellcheck disable=SC2086
    run 0 $learn $options -f $foreign/crfpp/rich.template $train
done
model=$foreign/crfpp/rich.model
run 0 tag -m $model $columns --marginals $test
run 0 tag -m $model $columns --all-marginals $test
run 0 tag -m $model $columns --nbest 3 $test
printf 'a\n' >$t/narrow
run 1 tag -m $model --label none $t/narrow

# From MALLET: features, then the label.
cat >$t/train.mallet <<'END'
The pos=DT CAP B-NP
10:30 pos=CD a\b I-NP
runs pos=VB O

A pos=DT CAP B-NP
END
awk 'NF { printf "%s", $NF; for (i = 1; i < NF; i++) { gsub(/[\\:]/, "\\\\&", $i); printf "\t%s", $i } } { print "" }' \
    $t/train.mallet >$t/mallet.txt
want "escapes" grep -qxF $'I-NP\t10\\:30\tpos=CD\ta\\\\b' $t/mallet.txt
for options in "--sigma 3.16" "--order 2" "--threads 2" "--seed 3" "--part 1/2" "--constrain $t/pairs" "--all-features"; do
    echo "B-NP O" >$t/pairs
    # shellcheck disable=SC2086
    run 0 train -q -t crf -e 2 --format crfsuite $options -m $t/m $t/mallet.txt
done
run 0 train -q -t crf -e 2 --format crfsuite -m $t/m $t/mallet.txt
run 0 inspect $t/m
want "the colon is part of the attribute" grep -q '10:30' $out
run 0 eval -m $t/m --format crfsuite $t/mallet.txt
sed 's/^[^ ]/_ &/' <(cut -d ' ' -f 1-2 $t/train.mallet) | tr ' ' '\t' | sed 's/10:30/10\\:30/' >$t/unlabelled
run 0 tag -m $t/m --format crfsuite $t/unlabelled

# From TnT.
printf '%%%% a comment\nThe\t\tDT\ndog\t\tNN\n\nA\t\tDT\ncat\t\tNN\nsleeps\t\tVBZ\n\n' >$t/train.tt
printf 'The\ncat\n\n' >$t/test.t
grep -v '^%%' $t/train.tt >$t/tnt.txt
run 0 train -q -t hmm --order 2 -m $t/m $t/tnt.txt
run 0 tag -m $t/m --label none $t/test.t
want "tags" cmp $out <(printf 'The DT\ncat NN\n\n')
run 0 eval -m $t/m --details $t/tnt.txt
finish
