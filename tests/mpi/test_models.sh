# trellis-mpi trains the model that trellis trains, to the byte, on any number of ranks.
. tests/mpi/lib.sh
t=$TRELLIS_TMP
head -n 2500 data/english/train.conll >$t/train
head -n 400 data/english/dev.conll >$t/dev

# same RANKS NAME OPTION...: the learner gives the same bytes on each number of ranks.
same() {
    local numbers=$1 name=$2
    shift 2
    run 0 train -q --label 3 "$@" -m $t/alone $t/train
    for n in $numbers; do
        ranks $n train -q --label 3 "$@" -m $t/together $t/train
        want "$name on $n ranks ends well" test $status = 0
        want "$name on $n ranks gives the same bytes" cmp $t/alone $t/together
    done
}

same "1 2 3 4 8" "crf by L-BFGS" -t crf -f chunk -e 8
same 4 "crf by L-BFGS, with two threads" -t crf -f chunk -e 8 -j 2
same "2 3" "crf by OWL-QN with dev data" -t crf -f chunk --l1 0.5 -e 8 --dev $t/dev

same "2 3" "crf by L-BFGS with dev data" -t crf -f chunk -e 8 --dev $t/dev

# Ranks send each other what their sequences touch. Gradient and direction in whole would be 240,336 bytes an iteration.
for e in 1 4; do
    export TRELLIS_MPI_REPORT=$t/report.$e
    ranks 2 train -q --label 3 -t crf -f chunk --warm-up 0 --epsilon 0 --delta 0 -e $e --log $t/log -m $t/together $t/train
done
unset TRELLIS_MPI_REPORT
each() { echo $((($(sed "s/.*\"$1\": \([0-9]*\).*/\1/" $t/report.4) - $(sed "s/.*\"$1\": \([0-9]*\).*/\1/" $t/report.1)) / 3)); }
want "an iteration sends less than half of that" test "$(each sent_bytes)" -lt 120000
# Six exchanges for each of the one or two points that it tries, and three more.
want "an iteration waits for others at most 15 times" test "$(each exchanges)" -le 15
want "and needs no agreement" test "$(each agreed)" = 0
run 0 train -q --label 3 -t crf -f chunk --warm-up 0 --epsilon 0 --delta 0 -e 4 --log $t/log.alone -m $t/alone $t/train
for log in $t/log $t/log.alone; do sed 's/, "seconds".*//' $log >$log.cut; done
want "and the ranks report the same figures" cmp $t/log.cut $t/log.alone.cut

# kept NAME OPTION...: each rank keeps its share of the data, and says so.
kept() {
    local name=$1
    shift
    same "2 3" "$name" "$@"
    ranks 2 train --label 3 "$@" -e 1 -m $t/together $t/train
    want "$name: each rank keeps its share" grep -q "keeps its share of the sequences" $err
}
same "2 4 8 20" "crf, each rank with its share of the data" -t crf -f chunk --warm-up 0 -e 8
kept "crf without a warm-up" -t crf -f chunk --warm-up 0 -e 8 -j 2
kept "crf by OWL-QN with shares" -t crf -f chunk --warm-up 0 --l1 0.5 -e 8 --dev $t/dev
kept "crf by gradient descent, rare attributes dropped" -t crf -a gd -f pos --min-count 3 -e 3
kept "memm with shares" -t memm -f chunk --warm-up 0 -e 6
kept "maxent with shares and all features" -t maxent -f chunk --warm-up 0 --all-features -e 4
kept "crf with shares and a tag dictionary" -t crf -f general --warm-up 0 --dictionary learn -e 4
printf 'U0:%%x[0,0]\nU1:%%x[1,0]/%%x[0,1]\nB\nB1:%%x[0,1]\n' >$t/edges
kept "crf with shares and edge attributes" -t crf -f $t/edges --warm-up 0 -e 5
# Values of attributes, which only the last sequences have here, so that some ranks meet none.
cp $t/train $t/plain
awk -F '\t' -v OFS='\t' 'NF { $4 = NR < 2300 ? 1 : NR % 7 / 3 - 0.7 } { print }' $t/plain >$t/train
printf 'columns word pos chunk x\nnode word[-1..1]\nnode pos\nnode real(x) & pos\nnode real(x[-1])\nstep\n' >$t/reals
kept "crf with shares and values" -t crf -f $t/reals --warm-up 0 -e 6 -j 2
kept "crf with shares, values and l1" -t crf -f $t/reals --warm-up 0 --l1 0.5 -e 6
kept "crf by SGD with shares and values" -t crf -f $t/reals -a sgd --batch 6 --rate 0.1 -e 2
printf 'columns word pos chunk x\nnode word[-1..1]\nedge real(x)\nstep\n' >$t/reals
kept "crf with shares and values of edges" -t crf -f $t/reals --warm-up 0 -e 6
kept "maxent with shares and values" -t maxent -f $t/reals --warm-up 0 -e 6
cp $t/plain $t/train
# Segments, whose attributes few ranks have; a rank without sequences; values beside them; their survey reads all data.
printf 'columns word pos\nnode word[-1..1]\nnode suffix(word,1..3)\nsegment text(pos)\nsegment before(word) & size\nsegment any(word)\nstep\n' >$t/segments
kept "crf with shares and segments" -t crf -f $t/segments --segments --max-segment 4 --warm-up 0 -e 6 -j 2
same "4 8 20" "crf with shares and segments" -t crf -f $t/segments --segments --warm-up 0 -e 4
kept "crf with shares, segments and l1" -t crf -f $t/segments --segments --warm-up 0 --l1 0.3 -e 4 --dev $t/dev
kept "crf with shares, segments and all features" -t crf -f $t/segments --segments --warm-up 0 --all-features -e 3
kept "crf by SGD with shares and segments" -t crf -f $t/segments --segments -a sgd --batch 6 --rate 0.1 -e 2
kept "crf with shares and a filter of segments" -t crf -f ner-segments --segments --filter 0.01 --warm-up 0 -e 4
cp $t/train $t/plain
awk -F '\t' -v OFS='\t' 'NF { $4 = NR < 2300 ? 1 : NR % 7 / 3 - 0.7 } { print }' $t/plain >$t/train
{ echo 'columns word pos chunk x'; echo 'node real(x) & pos'; tail -n +2 $t/segments; } >$t/reals
kept "crf with shares, segments and values" -t crf -f $t/reals --segments --warm-up 0 -e 4
cp $t/plain $t/train
run 0 train -q --label 3 -t crf -f chunk --warm-up 0 -e 3 -m $t/from $t/dev
kept "crf from another model" -t crf -f chunk --from $t/from -e 4
cp $t/train $t/known
awk -F '\t' -v OFS='\t' 'NR > 1400 && $3 == "B-NP" { $3 = "B-NP|I-NP" } NF && NR % 3 == 0 { $3 = "_" } { print }' $t/known >$t/train
kept "crf with shares and partial labels" -t crf -f chunk --warm-up 0 --partial -e 6
kept "crf with shares, partial labels and edge attributes" -t crf -f $t/edges --warm-up 0 --partial -e 5
cp $t/known $t/train
gzip -c $t/train >$t/train.gz
ranks 3 train -q --label 3 -t crf -f chunk --warm-up 0 -e 8 -m $t/together $t/train.gz
run 0 train -q --label 3 -t crf -f chunk --warm-up 0 -e 8 -m $t/alone $t/train.gz
want "shares of a compressed file give the same bytes" cmp $t/alone $t/together
same 2 "crf with rare features dropped" -t crf -f chunk --warm-up 0 --min-feature-count 2 -e 3
same 2 "crf with a selection" -t crf -f chunk --warm-up 0 --select-l1 1 -e 3
printf 'columns word pos\nnode word\nnode learned(word[-1..1],inside first last)\nstep\n' >$t/learned
kept "crf with shares and learned words" -t crf -f $t/learned --warm-up 0 -e 4
same 3 "crf at order 2" -t crf -f chunk --order 2 -e 4
same 2 "memm" -t memm -f chunk -e 6
same 2 "crf by conjugate gradients" -t crf -a cg -f chunk -e 5
same "2 3" "hmm by counting" -t hmm
same "2 3" "hmm by EM" -t hmm -a em --states 5 -e 4
same 2 "hmm by hard EM" -t hmm -a viterbi --states 5 -e 4
finish
