# Online learners mix the weights of the ranks: the model depends on their number and on nothing else.
. tests/mpi/lib.sh
t=$TRELLIS_TMP
head -n 2500 data/english/train.conll >$t/train

# mixed NAME OPTION...
mixed() {
    local name=$1
    shift
    run 0 train -q --label 3 -f chunk -e 4 "$@" -m $t/alone $t/train
    ranks 1 train -q --label 3 -f chunk -e 4 "$@" -m $t/one $t/train
    want "$name on one rank is that of trellis" cmp $t/alone $t/one
    ranks 3 train -q --label 3 -f chunk -e 4 "$@" -m $t/three $t/train
    want "$name on three ranks ends well" test $status = 0
    ranks 3 train -q --label 3 -f chunk -e 4 -j 2 "$@" -m $t/again $t/train
    want "$name on three ranks is the same with other threads" cmp $t/three $t/again
    run 0 eval -m $t/three --label 3 data/english/test.conll
    want "$name on three ranks has learned" awk '/^accuracy:/ { exit !($2 + 0 > 85) }' $out
}
mixed "the averaged perceptron" -t perceptron
mixed "arow" -t perceptron -a arow
mixed "the mean of two perceptrons" -t perceptron --seeds 2
finish
