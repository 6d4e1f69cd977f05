#!/usr/bin/env bash
# Unusual input, each with a defined result: lengths of 0, 1 and 1,000,000; 10,000 attributes on a token; a token of
# 1 MB; unusual labels; duplicate attributes; values 0, negative, 1e308, NaN and Inf; CRLF; a directory or a socket
# as a file; a closed output pipe.
. tests/cli/lib.sh
t=$TRELLIS_TMP
learn() { "$TRELLIS" train -q -e 2 -j 1 -m "$1" "${@:2}"; }
lines() { wc -l <"$1"; }

# Lengths.
columns $t/train the/O cat/B-X "|" a/O dog/B-X
run 0 train -q -e 3 -f id -m $t/m $t/train
: >$t/empty
input=$t/empty run 0 tag -m $t/m -
want "no sequence gives no output" test ! -s $out
printf '\n\n\n' >$t/blank
run 0 tag -m $t/m $t/blank
printf 'cat\n' >$t/one
run 0 tag -m $t/m $t/one
want "a sequence of one token has one label" grep -qx 'cat B-X' $out
yes cat | head -n 1000000 >$t/long
run 0 tag -m $t/m $t/long
want "a sequence of 1,000,000 tokens has as many labels" test "$(grep -cE '^cat (O|B-X)$' $out)" = 1000000
run 1 train -q -m $t/none $t/empty
want "nothing to learn from is said" grep -q 'nothing to learn from' $err

# Wide and large tokens.
{
    printf 'O'
    seq -f '\ta%.0f' 10000 | tr -d '\n' | sed 's/\\t/\t/g'
    printf '\nB\tb\n\n'
} >$t/wide
run 0 train -q -e 2 --format crfsuite -m $t/wide.m $t/wide
run 0 tag --format crfsuite -m $t/wide.m $t/wide
want "10,000 attributes on a token" grep -q '^O' $out
{ head -c 1000000 /dev/zero | tr '\0' x; echo ' O'; echo 'y B-X'; } >$t/huge
run 0 train -q -e 2 -m $t/huge.m $t/huge
run 0 tag -m $t/huge.m $t/huge
want "a token of 1 MB is written as it was" test "$(head -n 1 $out | wc -c)" -ge 1000003

# Labels: blanks, escaped colons, letters beyond ASCII, emoji.
printf 'a\\:b\tx\nn\xc3\xa9\ty\n\xf0\x9f\x98\x80\tz\n\\\\\tw\nNew York\tv\n\n' >$t/labels
run 0 train -q -e 9 --format crfsuite -m $t/labels.m $t/labels
run 0 tag --format crfsuite -m $t/labels.m $t/labels
"$TRELLIS" export $t/labels.m >$t/labels.text
"$TRELLIS" import -m $t/again.m $t/labels.text 2>/dev/null
"$TRELLIS" export $t/again.m >$t/again.text
want "a label may have a blank" grep -qx $'New York\tv' $out
want "strange labels survive export and import" cmp $t/labels.text $t/again.text
want "an emoji is a label" grep -q $'\xf0\x9f\x98\x80' $t/labels.text

# Attributes twice on a token add up, as values do.
printf 'A\tx\tx\nB\ty\n\n' >$t/twice
printf 'A\tx:2\nB\ty\n\n' >$t/sum
learn $t/twice.m --format crfsuite $t/twice
learn $t/sum.m --format crfsuite $t/sum
"$TRELLIS" export $t/twice.m | grep -E '^(node|step)' >$t/twice.text
"$TRELLIS" export $t/sum.m | grep -E '^(node|step)' >$t/sum.text
want "an attribute twice is one of value 2" cmp $t/twice.text $t/sum.text

# Values.
for value in 0 -1 -0.5 1e30; do
    printf 'A\tx:%s\nB\ty\n\n' $value >$t/value
    run 0 train -q -e 2 --format crfsuite -m $t/value.m $t/value
done
for value in NaN Inf -inf 1e308 nan; do
    printf 'A\tx:%s\nB\ty\n\n' $value >$t/value
    run 1 train -q -e 2 --format crfsuite -m $t/value.m $t/value
    want "$value is refused with its line" grep -qE 'value:1|line 1:' $err
done

# Line ends of other systems.
sed 's/$/\r/' $t/train >$t/crlf
learn $t/crlf.m -f id $t/crlf
learn $t/lf.m -f id $t/train
want "CRLF gives the same model" cmp $t/crlf.m $t/lf.m

# Not a file.
for what in "tag -m $t/m $t" "train -q -m $t/x $t" "info $t" "tag -m $t $t/one" "features -f $t $t/one"; do
    run 1 $what
    want "$what: a folder is refused with a sentence" test -s $err
done
if command -v python3 >/dev/null; then
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' $t/socket
    for what in "tag -m $t/m $t/socket" "tag -m $t/socket $t/one" "info $t/socket"; do
        run 1 $what
        want "$what: a socket is refused with a sentence" test -s $err
    done
fi

# A closed output pipe.
{ "$TRELLIS" tag -m $t/m $t/long 2>$t/pipe.err; echo $? >$t/status; } | head -n 1 >/dev/null
want "a closed pipe is exit status 1" test "$(cat $t/status)" = 1
want "a closed pipe gets no message" test ! -s $t/pipe.err
finish
