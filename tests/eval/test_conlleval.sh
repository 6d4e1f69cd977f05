# The figures of `trellis eval`, to the last printed digit, against a second implementation of conlleval's
# published definitions: a chunk begins at B-X, and at I-X unless a chunk of type X is open; one is correct where
# begin, end and type are. It lists all chunks as texts and joins the two lists, where ours walks through both.
. tests/cli/lib.sh
t=$TRELLIS_TMP

# chunks COLUMN-FROM-THE-END FILE: lines "sequence begin end type"
chunks() {
    awk -v back="$1" '
        function close_chunk(last) { if (type != "") print sequence + 0, from, last, type; type = "" }
        NF == 0 { close_chunk(n); sequence++; n = 0; next }
        {
            label = $(NF - back); n++
            letter = substr(label, 1, 1); here = substr(label, 3)
            if (letter == "O" || letter == "B" || here != type) close_chunk(n - 1)
            if (letter != "O" && type == "") { type = here; from = n }
        }
        END { close_chunk(n) }' "$2"
}

# oracle FILE: the lines of conlleval
oracle() {
    chunks 1 "$1" | sort >$t/gold
    chunks 0 "$1" | sort >$t/found
    join $t/gold $t/found -j 1 -t '|' >$t/both
    awk 'NF { n++; right += $NF == $(NF - 1) } END { print n + 0, right + 0 }' "$1" >$t/tokens
    {
        sed 's/^/gold /' $t/gold
        sed 's/^/found /' $t/found
        sed 's/^/both /' $t/both
    } | LC_ALL=C sort -k 5,5 | awk -v tokens="$(cat $t/tokens)" '
        function percent(part, whole) { return whole ? 100 * part / whole : 0 }
        function f1(p, r) { return p + r > 0 ? 2 * p * r / (p + r) : 0 }
        function show() {
            p = percent(both, found); r = percent(both, gold)
            lines = lines sprintf("%17s: precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f  %d\n", type, p, r, f1(p, r), found)
            all_gold += gold; all_found += found; all_both += both
            gold = found = both = 0
        }
        $5 != type && NR > 1 { show() }
        { type = $5 }
        $1 == "gold" { gold++ } $1 == "found" { found++ } $1 == "both" { both++ }
        END {
            if (NR) show()
            split(tokens, count, " ")
            printf "processed %d tokens with %d phrases; found: %d phrases; correct: %d.\n", count[1], all_gold, all_found, all_both
            p = percent(all_both, all_found); r = percent(all_both, all_gold)
            printf "accuracy: %6.2f%%; precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f\n", percent(count[2], count[1]), p, r, f1(p, r)
            printf "%s", lines
        }'
}

# agree FILE
agree() {
    oracle "$1" >$t/oracle
    run 0 eval "$1" || return
    diff $t/oracle "$out" || complain "$1: not what conlleval says"
}

# Random labels with every sort of illegal transition, in many sizes, so that figures that lie half way between two
# printed ones come up as well.
for seed in $(seq 1 40); do
    awk -v seed="$seed" 'BEGIN {
        srand(seed); types = 1 + int(rand() * 4); n = int(exp(rand() * 7))
        for (i = 0; i < n; i++) {
            for (k = 0; k < 2; k++) {
                r = rand(); type = substr("ABCD", 1 + int(rand() * types), 1)
                label[k] = r < 0.3 ? "O" : r < 0.6 ? "B-" type : "I-" type
            }
            if (rand() < 0.6) label[1] = label[0]
            print "w", label[0], label[1]
            if (rand() < 0.1) print ""
        }
    }' >$t/random
    agree $t/random
done

# Predictions of models on the bundled corpus, and on larger ones if present.
run 0 train -q -t perceptron -e 2 --label 3 -m $t/model data/english/train.conll
run 0 tag -m $t/model --label 3 -o $t/tagged data/english/test.conll
cut -f 1,3,5 $t/tagged >$t/last_two
agree $t/last_two
for pair in conll2000/train.txt:conll2000/test.txt conll2002/esp.train.txt:conll2002/esp.dev.txt; do
    train=$TRELLIS_SHARED/${pair%:*} test=$TRELLIS_SHARED/${pair#*:}
    if [ -r "$train" ] && [ -r "$test" ]; then
        awk 'NF == 0 { n++ } n == 1500 { exit } { print }' "$train" >$t/part
        run 0 train -q -t perceptron -e 2 --invalid-utf8 keep -m $t/model $t/part
        run 0 tag -m $t/model --invalid-utf8 keep -o $t/tagged "$test"
        agree $t/tagged
    fi
done
finish
