# The stochastic steps of trellis-mpi are shared by the ranks, and give the model of trellis, to the byte.
. tests/mpi/lib.sh
t=$TRELLIS_TMP
head -n 1500 data/english/train.conll >$t/train

# shared RANKS NAME OPTION...: the same bytes on each number of ranks, each of which keeps its share of the data.
shared() {
    local numbers=$1 name=$2
    shift 2
    run 0 train -q --label 3 -f chunk "$@" -m $t/alone $t/train
    for n in $numbers; do
        ranks $n train --label 3 -f chunk "$@" -m $t/together $t/train
        want "$name on $n ranks ends well" test $status = 0
        want "$name on $n ranks gives the same bytes" cmp $t/alone $t/together
        want "$name on $n ranks: each keeps its share" grep -q "keeps its share of the sequences" $err
    done
}
shared "2 4" "SGD" -t crf -a sgd --batch 6 -e 2
shared 2 "SGD with dropout and two threads" -t crf -a sgd --batch 6 --rate 0.1 --dropout 0.2 -e 2 -j 2
shared 3 "SGD on a pruned graph" -t crf -a sgd --batch 5 --rate 0.1 --order 2 --prune 0.01 -e 1
shared 2 "SGD of an MEMM" -t memm -a sgd --batch 7 --rate 0.1 -e 2
printf 'U0:%%x[0,0]\nU1:%%x[1,0]/%%x[0,1]\nB\nB1:%%x[0,1]\n' >$t/edges
shared 2 "SGD with edge attributes" -t crf -a sgd --batch 4 --rate 0.1 -f $t/edges -e 2

cp $t/train $t/known
awk -F '\t' -v OFS='\t' '$3 == "B-NP" { $3 = "B-NP|I-NP" } $3 == "O" { $3 = "_" } { print }' $t/known >$t/train
shared 3 "SGD with partial labels" -t crf -a sgd --batch 4 --rate 0.1 --partial -e 2
cp $t/known $t/train

# Seeds, where the steps are not shared: each rank trains some of them; the same is told.
head -n 300 data/english/dev.conll >$t/dev
apart() {
    local numbers=$1 name=$2
    shift 2
    run 0 train --label 3 -f chunk "$@" -m $t/alone $t/train
    grep -o 'seed [0-9]* of.*\|on the dev data.*' $err >$t/told
    for n in $numbers; do
        ranks $n train --label 3 -f chunk "$@" -m $t/together $t/train
        want "$name on $n ranks ends well" test $status = 0
        want "$name on $n ranks gives the same bytes" cmp $t/alone $t/together
        want "$name on $n ranks tells the same" cmp $t/told <(grep -o 'seed [0-9]* of.*\|on the dev data.*' $err)
    done
}
apart "2 3 5" "a recipe of four seeds" -e 2
apart 2 "seeds in two threads" -t crf -a sgd --dropout 0.3 --seeds 5 -e 2 -j 2
apart 3 "seeds with dev data" -t crf -a sgd --seeds 4 -e 3 --dev $t/dev --patience 1

# Scores beyond all numbers: of a rate that is tried they are no failure, of one that is given they are.
awk 'BEGIN { for (s = 0; s < 40; s++) { for (i = 0; i < 4; i++) printf "%s\tw%d:1e30\tv%d:1e25\n", substr("ABC", (s * i + i) % 3 + 1, 1),
             (s + i) % 7, s % 5; print "" } }' >$t/huge
options="-q --format crfsuite -t crf -a sgd --batch 4 -e 3"
run 0 train $options -m $t/alone $t/huge
ranks 2 train $options -m $t/together $t/huge
want "rates that are too high are not taken" cmp $t/alone $t/together
run 1 train $options --rate 1 -m $t/none $t/huge
cp $err $t/said
ranks 2 train $options --rate 1 -m $t/none $t/huge
want "a rate that is too high fails" test $status != 0
want "a rate that is too high: one rank says what one process does" test "$(grep -cxf $t/said $err)" = 1

# Too few sequences in a batch: every rank does all of the work.
run 0 train -q --label 3 -f chunk -t crf -a sgd --batch 2 -e 1 -m $t/alone $t/train
ranks 3 train -q --label 3 -f chunk -t crf -a sgd --batch 2 -e 1 -m $t/together $t/train
want "batches of two on three ranks give the same bytes" cmp $t/alone $t/together

# Where every rank keeps all data, the steps are shared all the same.
run 0 train -q --label 3 -f chunk -t crf -a sgd --batch 4 --rate 0.1 --min-feature-count 2 -e 2 -m $t/alone $t/train
ranks 3 train -q --label 3 -f chunk -t crf -a sgd --batch 4 --rate 0.1 --min-feature-count 2 -e 2 -m $t/together $t/train
want "steps on data that all ranks have give the same bytes" cmp $t/alone $t/together

# The warm-up before L-BFGS has batches of two from 1,024 sequences on.
awk 'NF { print } NR % 3 == 0 { print "" }' data/english/train.conll >$t/train
shared 2 "L-BFGS by default" -t crf -e 2
finish
