# Each rank reads the bytes of its share alone, where a file can be read in parts; the model is that of trellis, to the byte.
. tests/mpi/lib.sh
t=$TRELLIS_TMP
head -n 2500 data/english/train.conll >$t/train
printf 'U0:%%x[0,0]\nU1:%%x[-1,0]/%%x[1,0]\nU2:%%x[0,1]\nB\n' >$t/templates

# reads HOW RANKS NAME FILE... -- OPTION...: the same bytes on each number of ranks; HOW is "reads and keeps" or "keeps".
reads() {
    local how=$1 numbers=$2 name=$3 files=()
    shift 3
    while [ "$1" != -- ]; do files+=("$1"); shift; done
    shift
    run 0 train -q -t crf -f $t/templates --warm-up 0 -e 3 "$@" -m $t/alone "${files[@]}"
    for n in $numbers; do
        rm -f $t/together
        ranks $n train -t crf -f $t/templates --warm-up 0 -e 3 "$@" -m $t/together "${files[@]}"
        want "$name on $n ranks ends well" test $status = 0
        want "$name on $n ranks gives the same bytes" cmp $t/alone $t/together
        want "$name on $n ranks: each rank $how" grep -q "each rank $how its share" $err
    done
}
in_parts() { reads "reads and keeps" "$@"; }

in_parts "2 3 4 8 20" "columns" $t/train -- --label 3
in_parts "2 5" "two threads" $t/train -- --label 3 -j 2
head -n 20 $t/train >$t/short
in_parts "2 4" "two files" $t/train data/english/dev.conll -- --label 3
in_parts "3 8" "a file of one sequence between others" $t/train $t/short $t/train -- --label 3
in_parts "3 8" "fewer sequences than ranks" $t/short -- --label 3

# Ends of lines and blank lines of all kinds, which parts begin in the middle of.
sed 's/$/\r/' $t/train >$t/crlf
in_parts "2 3 7" "CRLF" $t/crlf -- --label 3
awk 'NF { print; next } { n++; for (i = 0; i <= n % 4; i++) print (n + i) % 3 ? "" : " \t " }' $t/train >$t/blank
in_parts "2 3 7" "blank lines with blanks, several in a row" $t/blank -- --label 3
{ printf '\xEF\xBB\xBF\n\n'; cat $t/train; printf 'last\tNN\tI-LAST\tO'; } >$t/ends
in_parts "2 3 7" "a byte-order mark, and no end of the last line" $t/ends -- --label 3
awk 'NF' $t/train >$t/one
in_parts "2 3" "one long sequence" $t/one -- --label 3
{ yes '' | head -n 5000; cat $t/short; yes '' | head -n 20000; } >$t/empty
in_parts "2 5" "long runs of blank lines" $t/empty -- --label 3

# Sentences with comments, tokens of several words, and blank lines behind comments.
awk -F '\t' -v OFS='\t' 'BEGIN { RS = ""; FS = "\n" } { print "# sent_id = " NR; print "# text"; if (NR % 3 == 0) print ""
    for (i = 1; i <= NF; i++) { split($i, c, "\t"); if (i == 2) print "2-3", "both", "_", "_", "_", "_", "_", "_", "_", "_"
    print i, c[1], "_", c[3], c[2], "_", "_", "_", "_", "_" } print "" }' $t/train >$t/comments.conllu
awk 'NF || before !~ /^#/ { print } { before = $0 }' $t/comments.conllu >$t/train.conllu
printf 'U0:%%x[0,1]\nU1:%%x[-1,1]/%%x[1,1]\nB\n' >$t/templates
in_parts "2 3 8" "CoNLL-U" $t/train.conllu -- --label upos
in_parts "2 3 8" "CoNLL-U with blank lines behind comments" $t/comments.conllu -- --label upos
printf 'U0:%%x[0,0]\nU1:%%x[-1,0]/%%x[1,0]\nU2:%%x[0,1]\nB\n' >$t/templates

# Ready-made attributes, of which few have values, and weights, for which every rank reads all.
ready_made() {
    awk -F '\t' -v OFS='\t' -v from="$1" 'NF { v = NR > from && NR % 5 == 0 ? ":" NR % 9 / 4 : ""
        print $3, "w=" $1, "p=" $2 v, "before=" before; before = $1; next } { before = ""; print }' $t/train
}
printf 'step\n' >$t/templates
ready_made 99999 >$t/plain
in_parts "2 3 8" "ready-made attributes" $t/plain -- --format crfsuite
ready_made 2200 >$t/valued
in_parts "2 3 8" "ready-made attributes with values" $t/valued -- --format crfsuite
in_parts "3" "two files of ready-made attributes" $t/plain $t/valued -- --format crfsuite
awk 'NR % 97 == 1 { print "@weight:0.5" } { print }' $t/valued >$t/weighted
reads keeps "2 3 8" "weights" $t/weighted -- --format crfsuite
printf 'U0:%%x[0,0]\nU1:%%x[-1,0]/%%x[1,0]\nU2:%%x[0,1]\nB\n' >$t/templates

# Labels that are open in the share of one rank only, and labels that no other rank has.
awk -F '\t' -v OFS='\t' 'NR > 2100 && NF { $3 = NR % 2 ? "_" : "B-NP|X-" NR % 5 } { print }' $t/train >$t/partial
in_parts "2 3 4" "partial labels of one rank" $t/partial -- --label 3 --partial

# What needs a look at all sequences is read by all ranks.
reads keeps 2 "a tag dictionary" $t/train -- --label 3 --dictionary learn
gzip -c $t/train >$t/train.gz
reads keeps 2 "a compressed file" $t/train.gz -- --label 3
awk 'NF { printf "%s%s/%s", n++ ? " " : "", $1, $3; next } { n = 0; print "" }' $t/train >$t/wordtag
printf 'U0:%%x[0,0]\nU1:%%x[-1,0]/%%x[1,0]\nB\n' >$t/templates
reads keeps 2 "a line for each sequence" $t/wordtag -- --format wordtag
printf 'U0:%%x[0,0]\nU2:%%x[0,1]\nB\n' >$t/templates
reads keeps 2 "a part of the sequences" $t/train -- --label 3 --part 1/3

# An error has its place in the file, whoever finds it.
awk 'NR == 2000 { print "too\tfew" } { print }' $t/train >$t/ragged
run 1 train -q -t crf -f $t/templates --warm-up 0 -e 3 --label 3 -m $t/none $t/ragged
cp $err $t/said
ranks 3 train -q -t crf -f $t/templates --warm-up 0 -e 3 --label 3 -m $t/none $t/ragged
want "a row that is too short fails" test $status != 0
want "a row that is too short: its line is told" grep -q "ragged:2000" $err
finish
