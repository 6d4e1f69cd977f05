# Whatever fails on one rank of trellis-mpi, all of them end, with one message and without half a model.
. tests/mpi/lib.sh
t=$TRELLIS_TMP
head -n 2500 data/english/train.conll >$t/train
options="-q --label 3 -t crf -f chunk"

# Each rank runs this script, so that one of them can be given other arguments: $1 is what rank 1 does.
cat >$t/rank.sh <<'END'
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
[ "$rank" != 1 ] || eval "$WHAT"
exec "$MPI_COMMAND" "$@"
END
export MPI_COMMAND=$mpi

# broken WHAT ARGUMENT...: rank 1 of 3 does WHAT before it runs trellis-mpi.
broken() {
    export WHAT=$1
    shift
    rm -f $t/model
    status=0
    timeout 60 mpirun -n 3 bash $t/rank.sh "$@" >$out 2>$err || status=$?
}

# ends DESCRIPTION TEXT: all ranks have ended with exactly one message, and there is no model.
ends() {
    want "$1: does not hang" test $status != 124
    want "$1: fails" test $status != 0
    want "$1: says why" grep -q "^trellis: .*$2" $err
    want "$1: says it once" test "$(grep -c "^trellis: .*$2" $err)" = 1
    want "$1: there is no model" test ! -e $t/model
    want "$1: nothing half-written is left" test -z "$(find $t -name 'model*')"
}

broken "set -- \${@/%$(basename $t)\/train/missing}" train $options -m $t/model $t/train
ends "a file that one rank cannot read" "rank 1: .*missing"

broken 'set -- "$@" --l2 3' train $options -m $t/model $t/train
ends "other options on one rank" "rank 1 has other options"
broken 'set -- "$@" --checkpoint '$t/checkpoint train $options -m $t/model $t/train
ends "a checkpoint on one rank" "rank 1 has other options"
want "a checkpoint on one rank: is not written" test ! -e $t/checkpoint

run 0 train $options -e 2 --checkpoint $t/checkpoint --every 1 -m $t/begun $t/train
pushd $t >/dev/null
broken "mkdir -p $t/elsewhere; cd $t/elsewhere" train $options --checkpoint checkpoint --resume -m $t/model $t/train
popd >/dev/null
ends "a checkpoint that one rank does not see" "rank 1 does not see the same checkpoint"

head -n 2000 data/english/train.conll >$t/other
broken "set -- \${@/%$(basename $t)\/train/$(basename $t)\/other}" train $options -m $t/model $t/train
ends "other data on one rank" "rank 1 has read other training data"
broken "set -- \${@/%$(basename $t)\/train/$(basename $t)\/other}" train $options --warm-up 0 -m $t/model $t/train
ends "other data on one rank, where each keeps its share" "rank 1 has read other training data"
sed '1s/^[^\t]*/other/' $t/train >$t/other
broken "set -- \${@/%$(basename $t)\/train/$(basename $t)\/other}" train $options --warm-up 0 -m $t/model $t/train
ends "another word in the share of another rank" "rank 1 has read other training data"

# What only one rank could read.
ranks 2 train $options -m $t/model - <$t/train
ends "standard input" "cannot read standard input on several ranks"
mkfifo $t/pipe
ranks 2 train $options -m $t/model $t/pipe
ends "a pipe" "cannot read .*/pipe on several ranks"
ranks 2 train $options --dev $t/pipe -m $t/model $t/train
ends "dev data in a pipe" "cannot read .*/pipe on several ranks"
input=$t/train
run 0 train $options -e 1 -m $t/alone -
input=/dev/null
ranks 1 train $options -e 1 -m $t/together - <$t/train
want "standard input on one rank" cmp $t/alone $t/together

awk -F '\t' 'NF { print $3 "\tw=" $1 "\tp=" $2; next } { print }' $t/train >$t/plain
sed '1001,2000s/w=t/w=xt/' $t/plain >$t/other
gzip -k $t/plain $t/other
ready="-q --format crfsuite -t crf --warm-up 0"
broken "set -- \${@/%plain.gz/other.gz}" train $ready -m $t/model $t/plain.gz
ends "another ready-made attribute in the share of another rank" "rank 1 has read other training data"

broken : train $options --bogus 1 -m $t/model $t/train
ends "an unknown option" "bogus"
broken 'set -- "$@" --bogus 1' train $options -m $t/model $t/train
ends "an unknown option on one rank" "rank 1: .*bogus"
broken 'set -- train --help' train $options -m $t/model $t/train
ends "one rank that is asked for help" "rank 1 has ended, and rank 0 has not"

# Other subcommands would do the same work, and write the same files, once on each rank.
"$TRELLIS" train $options -e 1 -m $t/tagger $t/train
broken : tag -m $t/tagger -o $t/tagged $t/train
ends "tagging on several ranks" "only 'train' runs on several ranks; use 'trellis tag'"
want "tagging on several ranks: writes nothing" test ! -e $t/tagged
run 0 tag -m $t/tagger -o $t/tagged $t/train
ranks 1 tag -m $t/tagger -o $t/alone $t/train
want "tagging on one rank" cmp $t/tagged $t/alone
rm $t/tagger
broken :
want "no subcommand: the usage is shown once" test "$(grep -c '^usage' $err)" = 1
broken : --help
want "its own help, once" test "$status.$(grep -c '^  mpirun -n N trellis-mpi train' $out)" = 0.1

broken : train $options -e 2 -m $t/no/such/model $t/train
want "a model that cannot be written: fails" test $status != 0
want "a model that cannot be written: says it once" test "$(grep -c 'no/such' $err)" = 1

# A full disk: files of rank 0 may not exceed 8 KB. MPICH must do without shared memory then, which is files too.
sed 's/^\[.*/[ "$rank" != 0 ] || ulimit -f 8/' $t/rank.sh >$t/full.sh
rm -f $t/model
status=0
UCX_TLS=tcp,self MPIR_CVAR_NOLOCAL=1 timeout 60 mpirun -n 2 bash $t/full.sh train $options -e 2 -m $t/model $t/train >$out 2>$err || status=$?
ends "a full disk" "model"

# Waits until a training has come to its second iteration.
until_it_trains() {
    for _ in $(seq 600); do
        grep -qs '"iteration": 2,' $t/log && break
        sleep 0.1
    done
}

# later SIGNAL [RANK]: sends it to rank 1, or another one, while it trains; the ranks wait 3 seconds for each other.
later() {
    rm -f $t/model $t/pid $t/log
    export TRELLIS_MPI_TIMEOUT=3 WHAT="echo \$\$ >$t/pid"
    status=0
    sed "s/!= 1/!= ${2:-1}/" $t/rank.sh >$t/one.sh
    timeout 120 mpirun -n 3 bash $t/one.sh train -q --label 3 -t perceptron -f chunk -e 100000 --log $t/log -m $t/model $t/train \
        >$out 2>$err &
    local run=$!
    until_it_trains
    kill -"$1" "$(cat $t/pid)"
    wait $run || status=$?
    unset TRELLIS_MPI_TIMEOUT
}
later KILL
want "a rank that dies: does not hang" test $status != 124
want "a rank that dies: fails" test $status != 0
# Open MPI names the rank, MPICH the signal alone.
want "a rank that dies: mpirun says so" grep -q "rank 1 \|(signal 9)" $err $out
want "a rank that dies: there is no model" test ! -e $t/model
later STOP
ends "a rank that is stopped" "for rank 1, which does not answer"
later STOP 0
ends "rank 0 is stopped" "for rank 0, which does not answer"
want "rank 0 is stopped: does not blame another when it is ended" test "$(grep -c 'does not answer' $err)" = 1
later INT
want "one rank is interrupted: as if all were" test $status = 130
want "one rank is interrupted: says so once" test "$(grep -c '^trellis: interrupted' $err)" = 1
run 0 info $t/model

# Ctrl-C: the ranks end with the iteration and write the model, if mpirun leaves them the time; Open MPI kills them a second
# later unless it is told otherwise. MPICH's mpirun ends with 0 at times, although each rank ends with 130.
interrupted() {
    rm -f $t/model $t/log
    mpirun -n 2 "$mpi" train -q --label 3 -t perceptron -f chunk -e 100000 --log $t/log -m $t/model $t/train >$out 2>$err &
    local run=$!
    until_it_trains
    kill -INT $run
    status=0
    wait $run || status=$?
}
export OMPI_MCA_odls_base_sigkill_timeout=5
interrupted
if mpirun --version | grep -q "Open MPI"; then
    want "Ctrl-C: fails" test $status != 0
    want "Ctrl-C: says so once" test "$(grep -c "^trellis: interrupted" $err)" = 1
    want "Ctrl-C: there is a model" test -e $t/model
fi
[ ! -e $t/model ] || run 0 info $t/model
want "Ctrl-C: nothing half-written is left" test -z "$(find $t -name 'model?*')"
finish
