# From labelled data to a model and back: train, tag, eval, info, export, import.
. tests/cli/lib.sh
t=$TRELLIS_TMP
head -n 4000 data/english/train.conll >$t/train
head -n 1500 data/english/test.conll >$t/test
chunks="--label 3 -f chunk"

run 0 train -e 3 $chunks --dev $t/test --log $t/log -m $t/model $t/train
want "each iteration gets a line" test "$(grep -c '^trellis: iteration [1-3]/3 ' $err)" = 3
want "the end says where the model is" grep -q '^trellis: model written to TMP/model (' $err
want "training writes nothing to standard output" test ! -s $out
want "the log has a line for each iteration" test "$(grep -c '^{"iteration": [1-3], .*}$' $t/log)" = 3
want "the log is JSON" python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' $t/log
want "each seed gets a line" test "$(grep -c '^trellis: seed [1-4] of 4: 3 iterations, dev F1 ' $err)" = 4
want "the dev score is that of the mean" grep -q '^trellis: F1 on the dev data: .* (mean of 4 seeds)$' $err
without_times() { sed 's/, "seconds": .*//' "$1"; }
for threads in 1 2 8; do
    run 0 train -q -e 3 -j $threads $chunks --dev $t/test --log $t/log$threads -m $t/model $t/train
    want "with $threads threads the log is the same but for times" diff <(without_times $t/log) <(without_times $t/log$threads)
done
run 0 train -e 3 --seeds 1 $chunks --dev $t/test -m $t/model $t/train
want "of one seed, the dev score is that of an iteration" grep -q '^trellis: F1 on the dev data: .* (iteration [1-3])$' $err

run 0 train -q -e 3 $chunks -m $t/model $t/train
want "--quiet is quiet" test ! -s $err
run 0 train -q -e 3 $chunks -j 2 -m $t/again $t/train
want "the model does not depend on the number of threads" cmp $t/model $t/again

input=$t/train
run 0 train -e 1 -m $t/piped -
want "without a recipe it says why" grep -q '^trellis: no recipe, since the data can be read only once' $err
input=/dev/null

# Labels are appended, in the order of the input, whatever the number of threads.
run 0 tag -m $t/model -j 1 $t/test
cp $out $t/tagged
want "tag keeps the columns of its input" diff <(cut -f1-4 $t/tagged | grep .) <(grep . $t/test)
for ways in "-j 3" --unbuffered "-j 2 -o $t/o"; do
    rm -f $t/o
    run 0 tag -m $t/model $ways $t/test
    [ -e $t/o ] || cp $out $t/o
    want "tag $ways gives the same" cmp $t/o $t/tagged
done
input=$t/test
run 0 tag -m $t/model -
want "tag reads standard input" cmp $out $t/tagged
input=/dev/null

# Both ways to score agree.
run 0 eval -m $t/model --label 3 $t/test
cp $out $t/report
want "the second line has the overall figures" grep -q '^accuracy: .*; precision: .*; recall: .*; FB1: ' <(sed -n 2p $t/report)
run 0 eval --label 3 $t/tagged
want "eval -m and eval of tagged data agree" diff $out $t/report
run 0 eval -m $t/model --label 3 -j 3 --json $t/test
want "the JSON report is JSON" python3 -m json.tool $out

run 0 info $t/model
want "info says something" test -s $out
run 0 info --json -m $t/model
want "info --json is JSON" python3 -m json.tool $out
run 0 export -o $t/text $t/model
run 0 import -m $t/imported $t/text
run 0 tag -m $t/imported $t/test
want "an imported model labels as the exported one" cmp $out $t/tagged
run 0 export --json $t/model
want "export --json is JSON" python3 -m json.tool $out

# Files that are not models.
check model_missing 1 tag -m $t/no/model $t/test
run 1 tag -m $t/test $t/test
head -c 3000 $t/model >$t/short
run 1 tag -m $t/short $t/test
run 1 info $t/short
run 1 train -m $t/model $t/no/file
run 2 train -t nothing -m $t/model $t/train
run 1 train -f $t/no/template -m $t/model $t/train

# The first signal stops the training and keeps the best model so far.
rm -f $t/model
"$TRELLIS" train -e 100000 $chunks -m $t/model $t/train 2>$t/err &
command=$!
for attempt in $(seq 200); do
    grep -q 'iteration 2/' $t/err && break
    sleep 0.1
done
kill -INT $command
wait $command
want "an interrupted training is exit status 130" test $? -eq 130
want "an interrupted training says so" grep -q '^trellis: interrupted; best model so far written to ' $t/err
run 0 tag -m $t/model $t/test
finish
