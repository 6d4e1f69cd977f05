#!/usr/bin/env bash
# The example of docs/guide/label-bias.md: the MEMM must err, with the same probabilities for both words, and the
# CRF must not; nor must an MEMM that looks ahead. The commands of the page are run as they stand there.
. tests/cli/lib.sh

page=$PWD/docs/guide/label-bias.md
ln -s "$PWD/data" "$TRELLIS_TMP/data"
mkdir "$TRELLIS_TMP/bin"
ln -s "$(realpath "$TRELLIS")" "$TRELLIS_TMP/bin/trellis"
want "the commands of the page" env PATH="$TRELLIS_TMP/bin:$PATH" bash -ec "cd '$TRELLIS_TMP'
    $(sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$page")"

# predicted MODEL: the labels of the two words, and the probabilities of each
predicted() { "$TRELLIS" tag -m "$TRELLIS_TMP/$1.model" data/label-bias/test.txt | awk 'NF { printf "%s ", $3 }'; }
chances() {
    "$TRELLIS" tag -m "$TRELLIS_TMP/$1.model" --nbest 2 data/label-bias/test.txt |
        awk -v word="$2" '/^# 1 / { n++ } /^#/ && n == word { print $4 }'
}
want "the MEMM errs" [ "$(predicted memm)" = "r1 i1 b r1 i1 b " ]
want "the CRF does not" [ "$(predicted crf)" = "r1 i1 b r2 o2 b " ]
want "nor does an MEMM that looks ahead" [ "$(predicted ahead)" = "r1 i1 b r2 o2 b " ]
want "the words look the same to the MEMM" [ "$(chances memm 1)" = "$(chances memm 2)" ]
want "and not to the CRF" [ "$(chances crf 1)" != "$(chances crf 2)" ]
want "three in five" awk -v p="$(chances memm 2 | head -n 1)" 'BEGIN { exit !(p > 0.599 && p < 0.601) }'

# By any decoding, order and penalty.
for options in "--decode posterior" "--decode beam"; do
    # shellcheck disable=SC2086 # two words
    run 0 eval -m "$TRELLIS_TMP/memm.model" $options data/label-bias/test.txt
    want "four of six with $options" grep -q "correct: 4 tokens, 1 sequence" "$out"
done
for options in "--order 2" "--l2 1" "-a sgd"; do
    for type in memm crf; do
        # shellcheck disable=SC2086 # two words
        run 0 train -q -t $type $options -f data/label-bias/letters.txt --constrain data/label-bias/steps.txt \
            -m "$TRELLIS_TMP/other.model" data/label-bias/train.txt
        run 0 eval -m "$TRELLIS_TMP/other.model" data/label-bias/test.txt
        want "$type $options" grep -q "correct: $([ $type = crf ] && echo 6 || echo 4) tokens" "$out"
    done
done
finish
