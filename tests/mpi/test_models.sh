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
same 3 "crf at order 2" -t crf -f chunk --order 2 -e 4
same 2 "memm" -t memm -f chunk -e 6
same 2 "crf by conjugate gradients" -t crf -a cg -f chunk -e 5
same "2 3" "hmm by counting" -t hmm
same "2 3" "hmm by EM" -t hmm -a em --states 5 -e 4
same 2 "hmm by hard EM" -t hmm -a viterbi --states 5 -e 4
finish
