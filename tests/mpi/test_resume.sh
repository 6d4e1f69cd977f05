# A training that was interrupted is resumed on another number of ranks, and ends with the same model.
. tests/mpi/lib.sh
t=$TRELLIS_TMP
head -n 2500 data/english/train.conll >$t/train

# resumed NAME FROM TO OPTION...: three iterations on FROM ranks, the others on TO.
resumed() {
    local name=$1 from=$2 to=$3
    shift 3
    rm -f $t/checkpoint
    run 0 train -q --label 3 -e 8 "$@" -m $t/alone $t/train
    ranks $from train -q --label 3 -e 3 "$@" --checkpoint $t/checkpoint --every 1 -m $t/begun $t/train
    want "$name: a checkpoint is there" test -s $t/checkpoint
    ranks $to train --label 3 -e 8 "$@" --checkpoint $t/checkpoint --every 1 --resume -m $t/ended $t/train
    want "$name: it ends well" test $status = 0
    want "$name: it is resumed" grep -q "resumed after iteration" $err
    want "$name: begun on $from ranks, ended on $to, it is the same" cmp $t/alone $t/ended
}
resumed "crf by L-BFGS" 3 2 -t crf -f chunk
resumed "crf by OWL-QN" 1 3 -t crf -f chunk --l1 0.5
shared() {
    resumed "$@"
    want "$1: each rank keeps its share" grep -q "keeps its share of the sequences" $err
}
shared "crf by L-BFGS with shares" 3 2 -t crf -f chunk --warm-up 0
shared "crf by L-BFGS with shares, begun alone" 1 4 -t crf -f chunk --warm-up 0
shared "crf by OWL-QN with shares" 2 3 -t crf -f chunk --warm-up 0 --l1 0.5
shared "crf by SGD with shares" 3 2 -t crf -f chunk -a sgd --batch 6 --rate 0.1
awk -F '\t' -v OFS='\t' 'NF { $4 = NR % 7 / 3 - 0.7 } { print }' $t/train >$t/valued
mv $t/valued $t/train
printf 'columns word pos chunk x\nnode word[-1..1]\nnode real(x) & pos\nstep\n' >$t/reals
printf 'columns word pos\nnode word[-1..1]\nsegment text(pos)\nsegment before(word)\nstep\n' >$t/segments
shared "crf with shares and segments" 2 3 -t crf -f $t/segments --segments --warm-up 0
shared "crf with shares and values" 3 2 -t crf -f $t/reals --warm-up 0
resumed "hmm by EM" 2 1 -t hmm -a em --states 5
finish
