# The trellis of a sequence as a picture, with the figures that the tagger gives, in a browser.
. tests/report/browser.sh
t=$TRELLIS_TMP
columns $t/train the/DT cat/NN sleeps/VB "|" a/DT dog/NN barks/VB loudly/RB "|" \
    dogs/NN chase/VB the/DT cats/NN "|" cats/NN sleep/VB
columns $t/test the/DT dog/NN sleeps/VB "|" cats/NN
run 0 train -q -t crf --label 2 -m $t/crf $t/train
run 0 train -q -t perceptron -e 3 --label 2 -m $t/perceptron $t/train
run 0 train -q -t crf --order 2 --label 2 -m $t/second $t/train

check show_no_model 2 show --words a
check show_empty 1 show -m $t/crf --words ''
run 1 show -m $t/crf --words "$(printf 'a %.0s' {1..61})"
run 1 show -m $t/crf --label 2 --sequence 3 $t/test

# Scores and probabilities are those of the tagger.
run 0 tag -m $t/crf --nbest 1 --marginals $t/test
cp $out $t/tagged
run 0 tag -m $t/crf --nbest 2 $t/test
read -r _ _ score probability < <(grep '^# 1 ' $out)
run 0 show -m $t/crf --label 2 $t/test
cp $out $t/one.svg
shown=$(grep -oE 'Best path: score [-0-9.]+, probability [0-9.]+' $t/one.svg | grep -oE '[-0-9.]+[0-9]' | tr '\n' ' ')
want "the score and the probability of the path" awk -v a="$score $probability" -v b="$shown" 'BEGIN {
    split(a, x); split(b, y); for (i = 1; i <= 2; i++) if ((x[i] - y[i]) ^ 2 > 0.0001 ^ 2) exit 1 }'
while read -r word gold label marginal; do
    [ -z "$word" ] && break
    want "the probability of $word: $label" \
        awk -v w="<title>$word: $label: score" -v m="$marginal" 'index($0, w) { sub(/.*probability /, ""); sub(/<.*/, "")
            found = ($0 - m) ^ 2 < 0.0002 ^ 2 } END { exit !found }' $t/one.svg
done <$t/tagged
want "a path through three tokens has four transitions" test "$(grep -c 'class="transitionscore"' $t/one.svg)" -le 4
want "a ring around each label of the path" test "$(grep -o 'class="best"' $t/one.svg | wc -l)" = 3
run 0 show -m $t/crf --top 1 --words 'the dog'
want "labels that are left out are counted" grep -q 'of 4 labels are shown' $out
run 0 show -m $t/perceptron --words 'the dog'
want "a perceptron has no probabilities" grep -q 'model itself has no probabilities' $out
run 0 show -m $t/second --words 'the dog sleeps'
want "second order" grep -q '</svg>' $out

need_browser
check_requests
page $t/one.svg
want "12 states" test "$(occurrences 'class="state"')" = 12
want "three words" test "$(occurrences 'class="word"')" = 3
want "no request" test ! -s $requests
# Whatever a word is, it is text.
run 0 show -m $t/crf --words '<script>x</script> &amp; "quoted\" ]]> a<b>'
cp $out $t/hostile.svg
page $t/hostile.svg
want "no markup comes from words" test "$(occurrences '<(script|b)[ >]')" = 0
want "no error of the parser" test "$(occurrences 'parsererror|error on line')" = 0
want "five words" test "$(occurrences 'class="word"')" = 5
want "the whole picture is there" test "$(occurrences '</svg>')" = 1
finish
