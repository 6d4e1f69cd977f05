# Brown clusters: the file they are written to, what templates make of it, and input that has none.
. tests/cli/lib.sh
t=$TRELLIS_TMP

# Words of a kind have a cluster of their own: two kinds take turns.
for i in 1 2 3 4 5 6; do
    echo "the cat sees a dog"
    echo "a dog sees the cat"
    echo "the dog hears a cat"
done >$t/text
run 0 cluster -c 3 --format wordtag --label none $t/text
cp $out $t/paths
want "the summary tells the average mutual information" grep -q "in 3 clusters, average mutual information" $err
want "each line has a path, a word and a count" \
    awk -F'\t' 'NF != 3 || $1 !~ /^[01]+$/ || $3 !~ /^[0-9]+$/ { exit 1 }' $t/paths
want "all words are there" test "$(cut -f2 $t/paths | sort | tr '\n' ' ')" = "a cat dog hears sees the "
path() { awk -F'\t' -v word="$1" '$2 == word { print $1 }' $t/paths; }
want "nouns share a cluster" test "$(path cat)" = "$(path dog)"
want "verbs share a cluster" test "$(path sees)" = "$(path hears)"
want "determiners share a cluster" test "$(path a)" = "$(path the)"
want "lines are sorted by path" sort -c -s -k1,1 $t/paths
awk '{ for (i = 1; i <= NF; i++) { count[$i]++; all++ } }
     FNR == NR { next }
     END { for (w in count) print w "\t" count[w] }' $t/text /dev/null | sort >$t/counts
want "counts are those of the text" diff <(cut -f2,3 $t/paths | sort) $t/counts

# Other formats, standard input, a file that appears whole.
run 0 cluster -q -c 3 --format text $t/text
want "running text has the same words" test "$(cut -f2 $out | sort | tr '\n' ' ')" = "a cat dog hears sees the "
want "-q says nothing" test ! -s $err
tr ' ' '\n' <$t/text >$t/column
input=$t/column
run 0 cluster -q -c 3 -o $t/stream.paths
input=/dev/null
want "a column of words without labels is a text" cmp $t/paths $t/stream.paths
sed 's/$/ X/' $t/column >$t/labelled
run 0 cluster -q -c 3 $t/labelled
want "labels make no difference" cmp $t/paths $out
run 0 cluster -q -c 3 -j 2 $t/labelled
want "threads make no difference" cmp $t/paths $out
run 0 cluster -q --min-count 7 -c 3 $t/labelled
want "--min-count leaves out rare words" test "$(grep -c hears $out)" = 0

# More clusters than words: each has its own.
run 0 cluster -q $t/labelled
want "each word has a cluster of its own" test "$(cut -f1 $out | sort -u | wc -l)" = 6

# Templates read the file.
printf 'node cluster(word,"%s",1 9)\n' $t/paths >$t/templates
run 0 features -f $t/templates --columns word $t/labelled
want "templates see prefixes of the path" grep -q "cluster(word\[0\],.*,1)=[01]" $out
want "and the whole path" grep -q "=$(path sees)" $out

# What cannot be clustered.
: >$t/empty
run 1 cluster -o $t/none $t/empty
want "an empty text has nothing to cluster" grep -q "nothing to cluster" $err
echo "one one one" >$t/one
run 1 cluster -o $t/none --format wordtag --label none $t/one
want "nor has a single word" grep -q "nothing to cluster: the text has 3 tokens and 1 word" $err
run 1 cluster -o $t/none --format crfsuite data/english/dev.conll
run 1 cluster -o $t/none $t/missing
run 2 cluster -c 1 $t/text
run 2 cluster -c many $t/text
run 2 cluster -c 99999999999999999999 $t/text
run 2 cluster -c 30000 $t/text
want "no file is left" test ! -e $t/none

# Ctrl-C ends it without a file.
mkdir $t/dir
"$TRELLIS" sample --labels 5 --vocabulary 40000 -n 200000 --output-format columns >$t/large
"$TRELLIS" cluster -q -c 8000 -j 1 -o $t/dir/paths $t/large 2>$t/err &
pid=$!
sleep 1
kill -INT $pid
wait $pid
want "Ctrl-C ends it" test $? -eq 130
want "no file is left" test -z "$(ls -A $t/dir)"
finish
