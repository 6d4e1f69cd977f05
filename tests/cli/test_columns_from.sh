# train --columns-from: a column predicted by another model, jackknifed. The judge is a jackknife made by hand from
# files: both models are equal to the byte.
. tests/cli/lib.sh
t=$TRELLIS_TMP
names=word,pos,chunk,entity
awk -v RS= -v ORS='\n\n' 'NR <= 123' data/english/train.conll >$t/train # no multiple of the number of folds
awk -v RS= -v ORS='\n\n' 'NR <= 40' data/english/test.conll >$t/dev
sequences=$(awk -v RS= 'END { print NR }' $t/train)

# fold K FOLDS: a fold of the training file; except K FOLDS: the others
fold() { awk -v RS= -v ORS='\n\n' -v k=$1 -v n=$sequences -v f=$2 'int((NR - 1) * f / n) == k' $t/train; }
except() { awk -v RS= -v ORS='\n\n' -v k=$1 -v n=$sequences -v f=$2 'int((NR - 1) * f / n) != k' $t/train; }
# jackknife FOLDS OPTION...: the training file with the predicted label as the last column
jackknife() {
    local folds=$1 k
    shift
    for ((k = 0; k < folds; k++)); do
        except $k $folds >$t/except
        fold $k $folds >$t/fold
        "$TRELLIS" train -q "$@" -m $t/fold.model $t/except || return 1
        "$TRELLIS" tag -m $t/fold.model $t/fold || return 1
    done
}
pos=(-f pos -t perceptron -e 3)
chunk=(-f chunk -t crf -a sgd -e 3)

# Another column: the predictions take its place.
jackknife 5 "${pos[@]}" --label 2 | awk '{ if (NF) $2 = $NF; if (NF) NF--; print }' >$t/by-hand
want "predictions are not gold" test "$(paste -d ' ' <(awk '{ print $2 }' $t/train) <(awk '{ print $2 }' $t/by-hand) |
    awk '$1 != $2' | wc -l)" -gt 20
run 0 train -q "${pos[@]}" --label 2 -m $t/pos.hand $t/train
run 0 train -q "${chunk[@]}" --label 3 -m $t/chunk.hand $t/by-hand
for threads in 1 2; do
    run 0 train -q -j $threads "${chunk[@]}" --label 3 --columns-from "pos -t perceptron -e 3 --label 2" \
        --first-model $t/pos -m $t/chunk $t/train
    want "the first model is that of all data ($threads)" cmp $t/pos.hand $t/pos
    want "the second model is that of the jackknifed file ($threads)" cmp $t/chunk.hand $t/chunk
done
run 0 train -q "${chunk[@]}" --label 3 -m $t/gold $t/train
want "and not that of gold tags" test "$(cmp $t/gold $t/chunk 2>&1 | wc -l)" = 1

# Several files are one corpus; other folds; names of columns.
fold 0 2 >$t/half.1 && fold 1 2 >$t/half.2
run 0 train "${chunk[@]}" --label 3 --columns-from "${pos[*]} --label 2" --first-model $t/pos -m $t/two \
    $t/half.1 $t/half.2
want "two files" cmp $t/two $t/chunk
want "the command that tags is said" grep -q "tag by 'trellis tag -m TMP/pos -m TMP/two'" $err
want "each fold is said" test "$(grep -c 'first model: fold . of 5' $err)" = 5
jackknife 3 "${pos[@]}" --label 2 | awk '{ if (NF) $2 = $NF; if (NF) NF--; print }' >$t/by-hand3
run 0 train -q "${chunk[@]}" --columns $names --label chunk -m $t/chunk3.hand $t/by-hand3
run 0 train -q "${chunk[@]}" --columns $names --label chunk --folds 3 --first-model $t/pos3 -m $t/chunk3 \
    --columns-from "${pos[*]} --label pos" $t/train
want "three folds, columns by name" cmp $t/chunk3.hand $t/chunk3

# A part of the file.
"$TRELLIS" convert --label 3 --part '!1/3' $t/train >$t/part
run 0 train -q "${chunk[@]}" --label 3 --columns-from "${pos[*]} --label 2" --first-model $t/pos -m $t/some $t/part
run 0 train -q "${chunk[@]}" --label 3 --columns-from "${pos[*]} --label 2" --first-model $t/pos -m $t/part.model \
    --part '!1/3' $t/train
want "--part is applied once" cmp $t/some $t/part.model

# Tagging: the predicted column is used, by position and by name, whether or not the input has a gold one.
run 0 tag -m $t/pos.hand --label 2 -o $t/tagged $t/dev
awk '{ if (NF) $2 = $NF; if (NF) NF--; print }' $t/tagged >$t/dev.predicted
run 0 tag -m $t/chunk.hand --label 3 -o $t/wanted $t/dev.predicted
awk '{ print $1, $2, $NF }' $t/wanted >$t/wanted.short
cut -f 1 $t/dev >$t/words
for threads in 1 2; do
    run 0 tag -j $threads -m $t/pos.hand -m $t/chunk.hand $t/dev
    want "by position ($threads)" diff <(awk '{ print $1, $2, $NF }' $out) $t/wanted.short
    want "gold tags are kept ($threads)" diff <(awk '{ print $5 }' $out) <(awk '{ print $2 }' $t/dev)
    run 0 tag -j $threads -m $t/pos.hand -m $t/chunk.hand $t/words
    want "words alone ($threads)" diff <(awk '{ print $1, $2, $3 }' $out) $t/wanted.short
    run 0 eval -m $t/chunk.hand $t/dev.predicted
    cp $out $t/scores
    run 0 eval -j $threads -m $t/pos.hand -m $t/chunk.hand $t/dev
    want "eval of a chain ($threads)" diff $t/scores $out
done
want "of some use" grep -q "FB1:  [89]" $out
run 0 tag -m $t/pos3 -m $t/chunk3 -o $t/named $t/dev
run 0 eval -m $t/pos3 -m $t/chunk3 $t/dev
cp $out $t/scores
awk '{ if (NF) print $3, $NF; else print "" }' $t/named >$t/columns
run 0 eval $t/columns
want "eval of a chain by name" diff <(tail -n +2 $t/scores) <(tail -n +2 $out)

# The same label: a first pass, whose labels are one more column.
printf 'columns word pos? first_pass\nnode word[-1..1]\nnode shortshape(word)\nnode first_pass\n%s\n' \
    'node elsewhere(first_pass[-1..1])' >$t/second.tpl
ner=(-f ner -t crf -a sgd -e 3)
jackknife 5 "${ner[@]}" --columns word,pos,chunk,first_pass | awk '{ $1 = $1 } 1' >$t/passed
run 0 train -q "${ner[@]}" --columns word,pos,chunk,first_pass -m $t/first.hand $t/train
run 0 tag -m $t/first.hand -o $t/dev.passed $t/dev
second=(-f $t/second.tpl -t crf -a sgd -e 4)
run 0 train -q "${second[@]}" --columns $names,first_pass --label entity --dev $t/dev.passed -m $t/second.hand $t/passed
run 0 train -q "${second[@]}" --columns $names --dev $t/dev -m $t/second --columns-from "${ner[*]}" \
    --first-model $t/first $t/train
want "the model of the first pass" cmp $t/first.hand $t/first
want "the model of the second pass, with dev data" cmp $t/second.hand $t/second
run 0 tag -m $t/second.hand --columns $names,first_pass -o $t/wanted $t/dev.passed
run 0 tag -m $t/first -m $t/second $t/dev
want "two passes from gold columns" diff <(awk '{ print $1, $NF }' $out) <(awk '{ print $1, $NF }' $t/wanted)
run 0 tag -m $t/first -m $t/second <(cut -f 1-3 $t/dev)
want "two passes without labels" diff <(awk '{ print $1, $NF }' $out) <(awk '{ print $1, $NF }' $t/wanted)
run 0 eval -m $t/first -m $t/second $t/dev
cp $out $t/scores
run 0 eval -m $t/second.hand --columns $names,first_pass $t/dev.passed
want "eval of two passes" diff $t/scores $out
run 1 tag -m $t/second $t/dev
want "the second alone has no such column" grep -q "first_pass" $err

# The templates that ship for a second pass.
run 0 train -q --columns $names --columns-from "${ner[*]}" --first-model $t/first -m $t/shipped --segments -t crf -a sgd \
    -e 2 -f examples/templates/ner-second-pass.txt $t/train
run 0 eval -m $t/first -m $t/shipped $t/dev
want "the templates of examples" grep -q "FB1:  [5-9]" $out

# Mistakes.
refuse() { # TEXT STATUS OPTION...: $status and a message, and no model
    local text=$1 status=$2
    shift 2
    rm -f $t/new $t/new.first
    run $status train -q "$@"
    want "$text" grep -qe "$text" $err
    want "no model: $text" test ! -e $t/new -a ! -e $t/new.first
}
both=(--first-model $t/new.first -m $t/new)
awk -v RS= -v ORS='\n\n' 'NR <= 4' $t/train >$t/short
refuse "4 sequences cannot be split into 5 folds" 1 "${both[@]}" --columns-from 'pos --label 2' $t/short
refuse "needs files that can be read several times" 1 "${both[@]}" --columns-from 'pos --label 2' <(cat $t/train)
refuse "there is no label column 'lemma'" 1 "${both[@]}" --columns $names --columns-from 'pos --label lemma' $t/train
refuse "the label column '9' is column 9" 1 "${both[@]}" --columns-from 'pos --label 9' $t/train
refuse "name all 4 columns with --columns" 2 "${both[@]}" --columns-from ner $t/train
refuse "there is a column 'first_pass'" 2 "${both[@]}" --columns word,pos,first_pass,entity --columns-from ner $t/train
refuse "first-model is missing" 2 -m $t/new --columns-from 'pos --label 2' $t/train
refuse "first-model needs --columns-from" 2 "${both[@]}" $t/train
refuse "folds needs --columns-from" 2 -m $t/new --folds 3 $t/train
refuse "folds must be between" 2 "${both[@]}" --folds 1 --columns-from 'pos --label 2' $t/train
refuse "would both write to" 2 -m $t/new --first-model $t/new --columns-from 'pos --label 2' $t/train
refuse "refusing to overwrite" 2 -m $t/new --first-model $t/train --columns-from 'pos --label 2' $t/train
refuse "refusing to overwrite" 2 -m $t/new --first-model $t/second.tpl --columns-from "-f $t/second.tpl --label 2" $t/train
refuse "cannot have --columns: both" 2 "${both[@]}" --columns-from 'pos --columns a,b' $t/train
refuse "cannot have --log: both" 2 "${both[@]}" --columns-from 'pos --log x' $t/train
refuse "cannot have --columns-from: both" 2 "${both[@]}" --columns-from 'pos --columns-from ner' $t/train
refuse "a preset and options of a training" 2 "${both[@]}" --columns-from 'pos more.txt' $t/train
refuse "unknown option '--lable'" 2 "${both[@]}" --columns-from 'pos --lable 2' $t/train
refuse "given once only" 2 "${both[@]}" --columns-from pos --columns-from ner $t/train
refuse "cannot be combined with --unlabelled" 2 "${both[@]}" --columns-from pos --unlabelled $t/dev $t/train
refuse "cannot come from standard input" 2 "${both[@]}" --columns-from 'pos --label 2' -
rm -f $t/new $t/new.first
timeout --preserve-status -s INT 1 "$TRELLIS" train -q "${both[@]}" --columns-from 'pos -t perceptron -e 100000 --label 2' \
    $t/train 2>$err
want "an interrupted first model" test $? = 130 -a ! -e $t/new -a ! -e $t/new.first
refuse "cannot read" 1 "${both[@]}" --columns-from 'pos --label 2' $t/nothing

# A file that is not the same when the second model reads it: a token less, a sequence more.
for change in '1d' '$a\\nmore X X O\n'; do
    cp $t/train $t/changing
    "$TRELLIS" train "${both[@]}" --columns-from 'pos --label 2 -t perceptron -e 100' $t/changing 2>&1 >/dev/null |
        while read -r line; do
            case $line in
                *'fold 1 of 5') sed -e "$change" $t/train >$t/changed && mv $t/changed $t/changing ;;
            esac
            echo "$line"
        done >$t/said
    want "changed by $change" grep -q 'the file changed while --columns-from was reading it' $t/said
    want "no model: changed by $change" test ! -e $t/new -a ! -e $t/new.first
done
finish
