#!/usr/bin/env bash
# The table of a course on sequence models, as Markdown: a generative, an online and two log-linear learners with the
# features of an HMM (id) and with spelling (extended; for an HMM the suffixes of unknown words), on little data.
# Trained on 1,000 sentences of at most 15 words of the Brown corpus with the 12 universal parts of speech
# (bench/brown-universal.map), evenly spaced over its training files; tested on 1,000 such sentences of the test files.
# Smoothing and penalties are those with the highest accuracy on a third thousand, also from the training files. Takes
# about a minute.
#
#   bench/course.sh [TRELLIS] [CORPUS_DIRECTORY]
#
# The corpus directory contains train.txt and test.txt; without it nothing is measured.
set -euo pipefail
cd "$(dirname "$0")/.."
trellis=${1:-build/trellis}
corpus=${2:-../shared/data/brown}
[ -f "$corpus/train.txt" ] || { echo "skipped: no corpus in $corpus"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# universal FILE PHASE: 1,000 of its sentences of at most 15 words, with universal tags. Different phases between 0 and 1
# select different sentences.
universal() {
    awk -v max_words=15 -v wanted=1000 -v phase="$2" '
        FNR == NR { if (!/^#/ && NF == 2) map[$1] = $2; next }
        function universal(tag) {
            if (tag ~ /^fw-/) return "X"
            sub(/(-(tl|hl|nc|t|n))+$/, "", tag)
            if (!(tag in map)) sub(/\+.*/, "", tag)
            if (!(tag in map)) sub(/\*$/, "", tag)
            if (!(tag in map)) { print "no universal tag for " $2 > "/dev/stderr"; exit 1 }
            return map[tag]
        }
        function end_sentence() {
            if (words > 0 && words <= max_words) sentences[++count] = sentence
            words = 0; sentence = ""
        }
        NF < 2 { end_sentence(); next }
        { words++; sentence = sentence $1 "\t" universal($2) "\n" }
        END {
            end_sentence()
            for (i = 1; i <= wanted && i <= count; i++) print sentences[int((i - phase) * count / wanted) + 1]
        }' bench/brown-universal.map "$1"
}

# accuracy FILE [OPTION...]: of the current model, in per cent.
accuracy() {
    "$trellis" eval -m "$work/model" "${@:2}" "$work/$1" | awk '/^accuracy:/ { print $2 + 0; exit }'
}

# row NAME FEATURES OPTION...: trains and tests. The last option is tried with each value in $values, if there are any.
row() {
    local name=$1 features=$2 best=-1 chosen="" posterior=– score options
    shift 2
    for value in $values; do
        "$trellis" train -q -f "$features" -m "$work/model" "$@" "$value" "$work/train.txt"
        score=$(accuracy dev.txt)
        if awk -v a="$score" -v b="$best" 'BEGIN { exit !(a > b) }'; then
            best=$score
            chosen=$value
        fi
    done
    options=("$@" ${chosen:+"$chosen"})
    "$trellis" train -q -f "$features" -m "$work/model" "${options[@]}" "$work/train.txt"
    if "$trellis" tag -m "$work/model" --marginals "$work/dev.txt" >"$work/out" 2>&1; then
        posterior=$(printf %.2f "$(accuracy test.txt --decode posterior)")
    fi
    # shellcheck disable=SC2016 # backquotes of Markdown
    printf '| %s | %s | `%s` | %.2f | %.2f | %s |\n' "$name" "$features" "${options[*]}" "$(accuracy train.txt)" \
        "$(accuracy test.txt)" "$posterior"
}

universal "$corpus/train.txt" 0.75 >"$work/train.txt"
universal "$corpus/train.txt" 0.25 >"$work/dev.txt"
universal "$corpus/test.txt" 0.5 >"$work/test.txt"
awk -v known=0 'FNR == NR { if (NF) seen[$1]; next } NF { n++; known += $1 in seen }
    END { printf "%d test tokens, %.1f %% of them in vocabulary\n\n", n, 100 * known / n }' \
    "$work/train.txt" "$work/test.txt"
echo "| learner | features | options | training | Viterbi | posterior |"
echo "|---|---|---|---:|---:|---:|"
values="1 0.3 0.1 0.03 0.01 0.003 0.001"
row "HMM" id -t hmm --alpha
values="" row "HMM" hmm -t hmm
values="" row "HMM, order 2" hmm -t hmm --order 2
for features in id extended; do
    values="" row "averaged perceptron" $features -t perceptron
    row "MEMM" $features -t memm --l2
    row "MEMM, order 2" $features -t memm --order 2 --l2
    row "CRF" $features -t crf --l2
done
