#!/usr/bin/env bash
# Full disks, and paths that cannot be written: the error says so, the old file stays, and no other file is left
# behind.
. tests/cli/lib.sh
t=$TRELLIS_TMP
head -n 300 data/english/train.conll >$t/train.txt
mkdir $t/place
"$TRELLIS" train -q -e 1 -m $t/place/kept $t/train.txt
cp $t/place/kept $t/old

# refused DESCRIPTION MESSAGE COMMAND...: fails with the message and leaves only the old model
refused() {
    local description=$1 sentence=$2
    shift 2
    cases=$((cases + 1))
    "$@" >$out 2>$err && complain "$description: no error"
    grep -q "$sentence" $err || { complain "$description: no '$sentence'"; cat $err; }
    cmp -s $t/old $t/place/kept || complain "$description: the old model is not as it was"
    [ "$(ls -A $t/place)" = kept ] || complain "$description: something is left: $(ls -A $t/place)"
}

# A limit on the size of files, in units of 1 kB.
limited() { (ulimit -f 8 && exec "$TRELLIS" "$@"); }
refused "a model beyond the limit" 'cannot write .*: File too large' \
    limited train -q -e 1 -m $t/place/kept $t/train.txt
refused "a checkpoint and a model beyond the limit" 'no checkpoint after iteration 1: cannot write .*: File too large' \
    limited train -q -e 3 --checkpoint $t/place/check -m $t/place/kept $t/train.txt
"$TRELLIS" export $t/old >$t/text
refused "an imported model beyond the limit" 'cannot write .*: File too large' \
    limited import -m $t/place/kept $t/text
refused "a corpus beyond the limit" 'File too large' \
    limited convert -o $t/place/kept data/english/train.conll

# A full device.
if [ -c /dev/full ]; then
    refused "tags on a full disk" 'No space left' \
        bash -c '"$0" tag -m "$1" "$2" >/dev/full' "$TRELLIS" $t/old $t/train.txt
    refused "a model on a full device" 'No space left' \
        "$TRELLIS" train -q -e 1 -m /dev/full $t/train.txt
fi

# A full file system, mounted by root or in a namespace of our own.
full_file_system() {
    mount -t tmpfs -o size=512k tmpfs $t/small 2>/dev/null || return 77
    "$TRELLIS" train -q -e 1 -f id -m $t/small/kept $t/train.txt
    cp $t/small/kept $t/small-old
    "$TRELLIS" train -q -e 1 -f chunk -m $t/small/kept data/english/train.conll 2>$err &&
        complain "a full file system: no error"
    grep -q 'No space left' $err || complain "a full file system: $(cat $err)"
    cmp -s $t/small-old $t/small/kept || complain "a full file system: the old model is not as it was"
    [ "$(ls -A $t/small)" = kept ] || complain "a full file system: something is left"
    umount $t/small
}
mkdir $t/small
cases=$((cases + 1))
full_file_system || unshare -rm bash -c "t=$t err=$err TRELLIS='$TRELLIS' failures=0
    $(declare -f complain full_file_system)
    full_file_system || exit; exit \$failures" 2>/dev/null
case $? in
0) ;;
1) complain "a full file system" ;;
*) echo "[  SKIPPED ] a_full_file_system: no tmpfs can be mounted here" ;; # scripts/run_tests.sh names it
esac

# Paths that cannot be written.
refused "a folder that is not there" 'No such file' \
    "$TRELLIS" train -q -e 1 -m $t/there/is/none $t/train.txt
refused "a file as a folder" 'Not a directory' "$TRELLIS" import -m $t/old/model $t/text

# A checkpoint that cannot be written is a warning; the model decides the status, and is that of a training without.
run 0 train -q -e 2 --seeds 1 -m $t/plain $t/train.txt
run 0 train -q -e 2 --seeds 1 --checkpoint $t/there/is/none -m $t/unchecked $t/train.txt
want "a warning, even with -q" grep -q 'warning: no checkpoint after iteration 1: .*: No such file' $err
want "the model is as without checkpoints" cmp $t/plain $t/unchecked
mkfifo $t/pipe # that nobody reads
timeout 20 "$TRELLIS" train -q -e 2 --seeds 1 --checkpoint $t/pipe -m $t/unchecked $t/train.txt 2>$err ||
    complain "a checkpoint into a pipe: status $?"
want "a warning about the pipe" grep -q 'warning: no checkpoint after iteration 1: .*pipe: it is not a regular file' $err
want "the model is as without the pipe" cmp $t/plain $t/unchecked
if [ "$(id -u)" != 0 ]; then
    chmod a-w $t/place
    refused "a folder without the right to write" 'Permission denied' \
        "$TRELLIS" train -q -e 1 -m $t/place/kept $t/train.txt
    chmod u+w $t/place
fi
finish
