# Control characters of the data do not reach a terminal, and a line stays a line.
. tests/cli/lib.sh
t=$TRELLIS_TMP
esc=$'\x1b'
printf '{"tokens": ["a\\u001b[31mb", "c\\nd", "e\\u009bf"], "labels": ["X\\u001b]0;t\\u0007", "Y\\nZ", "X\\u001b]0;t\\u0007"]}\n' >$t/train.jsonl
run 0 train -q -e 3 --columns word -f id -m $t/m $t/train.jsonl
clean() { ! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]\|\xc2[\x80-\x9f]' "$1"; }
for what in "info $t/m" "inspect $t/m" "explain -m $t/m --columns word $t/train.jsonl"; do
    run 0 $what
    want "$what shows no control characters" clean $out
done
run 0 info $t/m
want "a label with a newline is on one line" grep -q 'Y\\nZ' $out
run 0 inspect $t/m
want "an escape is visible" grep -q 'X\\x1b\]0;t\\x07' $out
printf 'a\x1b[2J b c\n' >$t/bad
run 1 train -q --format wordtag -m $t/x $t/bad
want "messages show no control characters" clean $err
want "a message is one line" test "$(wc -l <$err)" = 1
run 1 tag -m "$t/no${esc}such
model" $t/bad
want "nor do paths in messages" clean $err
want "with a newline in a path, one line" test "$(wc -l <$err)" = 1
run 2 serve --listen "1:${esc}" -m "m=$t/m"
want "nor do messages of the service" clean $err
if command -v script >/dev/null; then
    script -qec "'$TRELLIS' tag -m $t/m --columns word --format jsonl $t/train.jsonl" /dev/null </dev/null | tr -d '\r' >$t/screen
    want "tagging to a terminal shows none" clean $t/screen
    want "but the words" grep -q 'a\\u001b\[31mb' $t/screen
    # U+202E turns a line round, U+2028 ends it, 9B alone is a control sequence of an 8-bit terminal; U+0159 ends in 99.
    printf 'x Y\na\xe2\x80\xaeb\xe2\x80\xa8c\x9bd\xc5\x99\xe2\x80\x99 X\n\n' >$t/turned
    run 0 train -q -e 1 --invalid-utf8 keep -f id -m $t/turned.m $t/turned
    for what in "inspect $t/turned.m" "tag --invalid-utf8 keep -m $t/turned.m $t/turned"; do
        script -qec "'$TRELLIS' $what" /dev/null </dev/null >$t/screen
        want "$what: visible, and letters as they are" \
            grep -aqF $'a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8c\\x9bd\xc5\x99\xe2\x80\x99' $t/screen
    done
fi
finish
