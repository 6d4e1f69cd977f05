# Embeddings as features: labels that depend on nothing but the vectors of words, most of them not in the training data.
. tests/cli/lib.sh
t=$TRELLIS_TMP

# 200 words; the label says on which side of a line through the first two of three components the vector lies. The even
# words are for training, the odd ones for testing; in the test half of the words are capitalised.
awk -v folder="$t" 'BEGIN {
    state = 7
    for (w = 0; w < 200; w++) {
        for (k = 1; k <= 3; k++) {
            state = (state * 16807) % 2147483647
            v[k] = state / 2147483647 - 0.5
        }
        side = v[1] + 2 * v[2] > 0
        v[1] += side ? 0.1 : -0.1
        vectors = vectors sprintf("word%d %.6f %.6f %.6f\n", w, 40 * v[1], 40 * v[2], 40 * v[3])
        label = side ? "above" : "below"
        file = w % 2 ? "/test" : "/train"
        printf "%s %s\n%s", (w % 4 == 3 ? "W" : "w") "ord" w, label, (w % 10 > 7 ? "\n" : "") >(folder file)
    }
    printf "200 3\n%s", vectors >(folder "/vectors.txt")
}'
printf 'columns word\nnode embedding(word, "vectors.txt")\n' >$t/templates

accuracy() { awk '{ if (NF) { n++; right += $NF == $(NF - 1) } } END { print n, right }' $1; }

for algorithm in "-t crf --l2 0.01" "-t crf -a sgd --l2 0.01" "-t perceptron" "-t ssvm"; do
    # shellcheck disable=SC2086
    run 0 train -q $algorithm -f $t/templates -m $t/model $t/train
    run 0 tag -m $t/model $t/test
    set -- $(accuracy $out)
    want "$algorithm: 95 of 100 unknown words are right ($2 of $1)" test "$1" = 100 -a "$2" -ge 95
done

# A compressed file is the same; the model has it, and other forms of the model too.
run 0 train -q -t crf -f $t/templates -m $t/model $t/train
gzip -c $t/vectors.txt >$t/packed && mv $t/packed $t/vectors.txt
run 0 train -q -t crf -f $t/templates -m $t/again $t/train
want "compressed vectors give the same model" cmp $t/model $t/again
rm $t/vectors.txt
run 0 tag -m $t/model $t/test
cp $out $t/tagged
want "words differ" test "$(sort -u $t/tagged | wc -l)" -gt 50
run 0 export -o $t/model.txt $t/model
run 0 import -m $t/imported $t/model.txt
run 0 tag -m $t/imported $t/test
want "an imported model tags as the exported one" diff $t/tagged $out
run 0 convert -m $t/model --bits 16 -o $t/small
run 0 tag -m $t/small $t/test
want "a model of 16 bits tags alike" diff $t/tagged $out
run 0 info $t/model
want "there is a template for each dimension" grep -q '^templates  *3$' $out
run 0 explain -m $t/model $t/test
want "explain has the dimensions" grep -q 'embedding(word\[0\],"vectors.txt",3)' $out

printf 'word0 1 2\nword1 1\n' >$t/vectors.txt
run 1 train -q -f $t/templates -m $t/none $t/train
want "an error has file and line" grep -q 'vectors.txt:2: 1 component instead of 2' $err
want "and leaves no model" test ! -e $t/none
finish
