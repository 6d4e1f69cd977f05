# Output: atomic files, closed pipes, directories that cannot be written to.
. tests/cli/lib.sh
t=$TRELLIS_TMP

columns $t/good a/B-X/B-X b/I-X/I-X
columns $t/bad a/B-X/B-X "|" b/I-X
run 0 convert -o $t/new $t/good
want "-o writes what standard output would get" diff $t/good <(sed '$d' $t/new)
want "-o gives the default permissions" test "$(stat -c %a $t/new)" = "$(touch $t/default && stat -c %a $t/default)"

# On failure the old file stays, a new one does not appear, and nothing is left beside it.
mkdir $t/place
echo old >$t/place/kept
run 1 convert -o $t/place/kept $t/good $t/bad
want "the old file is kept" grep -qx old $t/place/kept
run 1 convert -o $t/place/half $t/good $t/bad
want "half a file is not written" test ! -e $t/place/half
want "no temporary file is left" test "$(ls -A $t/place)" = kept

check unwritable 1 convert -o $t/there/is/no/folder $t/good
check output_folder 1 convert -o $t/place $t/good
check model_folder 1 train -m $t/there/is/no/folder $t/good
check model_is_folder 1 train -m $t/place $t/good
run 0 convert -o /dev/null $t/good
want "a device is written to directly" test -c /dev/null
run 0 convert -o - $t/good
want "-o - is standard output" test -s $out

# A closed pipe ends the command without a message.
yes 'a B-X B-X' | head -n 200000 | awk '1; NR % 10 == 0 { print "" }' >$t/long
{ "$TRELLIS" convert $t/long 2>$t/err; echo $? >$t/status; } | head -n 1 >$t/head
want "a closed pipe is exit status 1" test "$(cat $t/status)" = 1
want "a closed pipe gets no message" test ! -s $t/err
want "the output before is correct" grep -qx 'a B-X B-X' $t/head

# A full disk is not a closed pipe.
if [ -c /dev/full ]; then
    check full_disk 1 convert -o /dev/full $t/long
fi

# A signal removes the temporary file.
mkfifo $t/slow
"$TRELLIS" convert -o $t/place/interrupted $t/slow &
command=$!
exec 9>$t/slow
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    ls $t/place/interrupted.* >/dev/null 2>&1 && break
    sleep 0.1
done
kill -TERM $command
wait $command 2>/dev/null
exec 9>&-
want "nothing is left after a signal" test "$(ls -A $t/place)" = kept
finish
