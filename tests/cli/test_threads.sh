# Tagging and scoring in several threads: the output, and what is said of malformed input, are those of one thread.
. tests/cli/lib.sh
t=$TRELLIS_TMP

for i in $(seq 20); do cat data/english/test.conll; done >$t/test
run 0 train -q -t perceptron -e 2 -f pos -m $t/model data/english/train.conll
run 0 train -q -t crf -a sgd -e 2 -f pos -m $t/crf data/english/train.conll

# same ARGUMENT...: standard output, standard error and exit status are the same with one thread and with several.
same() {
    local threads
    "$TRELLIS" "$@" -j 1 <"$input" >$t/out1 2>$t/err1
    echo $? >>$t/err1
    for threads in 2 3 7; do
        "$TRELLIS" "$@" -j $threads <"$input" >$t/out2 2>$t/err2
        echo $? >>$t/err2
        want "-j $threads writes the same: $*" cmp $t/out1 $t/out2
        want "-j $threads says the same: $*" cmp $t/err1 $t/err2
    done
}

want "there are many batches to share" test $(stat -c %s $t/test) -gt 400000
same tag -m $t/model $t/test
want "all lines are there" test $(wc -l <$t/out1) -ge $(wc -l <$t/test)
same tag -m $t/model $t/test data/english/test.conll $t/test
same tag -m $t/crf --marginals $t/test
same tag -m $t/crf --nbest 2 data/english/test.conll
same tag -m $t/crf --output-format jsonl data/english/test.conll
same eval -m $t/crf $t/test
gzip -c $t/test >$t/test.gz
same tag -m $t/model $t/test.gz
input=$t/test same tag -m $t/model
: >$t/empty
same tag -m $t/model $t/empty $t/test

# An error in the middle: everything before it is written.
lines=$(wc -l <$t/test)
for bad in 'one two three four five six' $'\xff x' ''; do
    for at in 2 $((lines / 2)) $((lines - 3)) $lines; do
        awk -v at=$at -v bad="$bad" 'NR == at { print bad; next } { print }' $t/test >$t/bad
        same tag -m $t/model $t/bad
        [ "$bad" = "" ] || want "line $at is named" grep -q ":$at:" $t/err1
    done
done
head -c $(($(stat -c %s $t/test.gz) / 2)) $t/test.gz >$t/half.gz
same tag -m $t/model $t/half.gz
want "what was complete is written" test -s $t/out1
same tag -m $t/model $t/test $t/missing

# A reader that goes away ends it.
"$TRELLIS" tag -m $t/model -j 3 $t/test $t/test $t/test 2>$err | head -n 5 >$out
want "a closed pipe is no error" test ! -s $err -a $(wc -l <$out) -eq 5
# A writer that is slow, in small pieces.
(head -c 1000 $t/test; sleep 0.2; tail -c +1001 $t/test) | "$TRELLIS" tag -m $t/model -j 3 >$out
"$TRELLIS" tag -m $t/model -j 1 $t/test >$t/out1
want "a slow pipe gives the same" cmp $out $t/out1
finish
