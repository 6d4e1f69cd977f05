# No command overwrites a file that it reads; '-' is standard input or output for models; links stay links.
. tests/cli/lib.sh
t=$TRELLIS_TMP

head -n 400 data/english/train.conll >$t/corpus
cp $t/corpus $t/copy
trellis=$(realpath "$TRELLIS")
ln $t/corpus $t/hard
ln -s corpus $t/link
run 0 train -q -e 1 -m $t/model $t/corpus
run 0 train -q -e 1 -t hmm -m $t/hmm $t/corpus
cp $t/model $t/model.copy

# refused FILE ARGUMENT...: FILE, as it is shown, would be overwritten
refused() {
    local file=$1
    shift
    run 2 "$@"
    want "trellis $* refuses to overwrite $file" grep -qxF \
        "trellis: refusing to overwrite '$file', which is also an input; write to another file" "$err"
    want "trellis $* leaves the corpus alone" cmp $t/corpus $t/copy
    want "trellis $* leaves the model alone" cmp $t/model $t/model.copy
}
refused TMP/corpus train -m $t/corpus $t/corpus
refused TMP/corpus train -m $t/link $t/corpus
refused TMP/corpus train -m $t/hard $t/corpus
refused TMP/link train -m $t/corpus $t/link
refused TMP/corpus train -m $t/new $t/copy --dev $t/corpus --log $t/corpus
refused TMP/corpus train -m $t/new --checkpoint $t/corpus $t/corpus
refused TMP/corpus train -t hmm -a em -m $t/corpus --unlabelled $t/corpus $t/copy
refused TMP/model train -m $t/model --from $t/model $t/corpus
refused TMP/corpus train -f $t/corpus -m $t/corpus $t/copy
refused TMP/corpus tag -m $t/model -o $t/corpus $t/corpus
refused TMP/model tag -m $t/model -o $t/model $t/corpus
refused TMP/corpus eval -m $t/model -o $t/corpus $t/corpus
refused TMP/corpus eval -o $t/corpus $t/copy --against $t/corpus
refused TMP/corpus convert -o $t/corpus $t/corpus
refused TMP/model convert -m $t/model --bits 16 -o $t/model
refused TMP/corpus features -o $t/corpus $t/corpus
refused TMP/corpus cluster -o $t/corpus $t/corpus
refused TMP/corpus compare -o $t/corpus $t/corpus
refused TMP/corpus cv -o $t/corpus $t/corpus
refused TMP/corpus tune --try l2=1 --plot $t/corpus $t/corpus
refused TMP/corpus tune --try l2=1 -r $t/corpus $t/corpus
refused TMP/corpus report -m $t/model -o $t/corpus $t/corpus
refused TMP/corpus explain -m $t/model -o $t/corpus $t/corpus
refused TMP/corpus show -m $t/model -o $t/corpus $t/corpus
refused TMP/model export -o $t/model $t/model
refused TMP/model info -o $t/model $t/model
refused TMP/model inspect -o $t/model $t/model
refused TMP/corpus import -m $t/corpus $t/corpus
refused TMP/hmm sample -m $t/hmm -o $t/hmm
input=$t/corpus
refused TMP/corpus convert -o $t/corpus
refused TMP/corpus convert -o $t/corpus -
input=/dev/null
"$TRELLIS" convert $t/corpus >>$t/corpus 2>$err
want "standard output is refused as well" grep -q "refusing to overwrite" $err
run 2 train -m $t/new --log $t/new $t/corpus
want "two outputs are not the same file" grep -qx "trellis: -m and --log would both write to 'TMP/new'" $err

# A word that is also the name of a file is not that file.
(cd $t && cp corpus pos && "$trellis" train -q -e 1 -f pos -m pos corpus)
want "a preset is not a file" "$TRELLIS" info $t/pos

# '-' for models.
run 0 train -q -e 1 -m - $t/corpus
want "-m - writes the model to standard output" cmp $out $t/model
input=$t/model
run 0 info -
want "a model is read from standard input" grep -q '^type' $out
run 0 tag -m - $t/corpus
cp $out $t/tagged
run 1 tag -m - $t/nothing
run 2 tag -m -
want "not for model and corpus at once" grep -qxF \
    "trellis: standard input cannot be both the model and the corpus; name a file for one of them" $err
run 0 convert -m - --bits 16 -o -
want "a converted model goes to standard output" "$TRELLIS" info $out
input=/dev/null
run 0 tag -m $t/model $t/corpus
want "a model from standard input is the same model" cmp $out $t/tagged
for option in from log checkpoint; do
    run 2 train -m $t/new --$option - $t/corpus
    want "--$option - is refused" grep -qxF "trellis: --$option must be a file; '-' is not supported here" $err
done

# A link stays a link; what it leads to is replaced.
mkdir $t/store
cp $t/model $t/store/v1
ln -s store/v1 $t/current
run 0 train -q -e 2 -m $t/current $t/corpus
want "the link is still a link" test "$(readlink $t/current)" = store/v1
want "its target is the new model" sh -c "! cmp -s $t/store/v1 $t/model && '$TRELLIS' info $t/store/v1"
want "nothing is left beside it" test "$(ls -A $t/store)" = v1
ln -s store/text $t/text
echo old >$t/store/text
run 0 convert -o $t/text $t/corpus
want "the same for other output" test -L $t/text -a "$(wc -l <$t/store/text)" -gt 100
ln -s nowhere $t/broken
run 1 train -q -e 1 -m $t/broken $t/corpus
want "a broken link is refused" grep -qxF \
    "trellis: cannot write the model to TMP/broken: it is a dangling symbolic link" $err
finish
