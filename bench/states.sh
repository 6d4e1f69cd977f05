#!/usr/bin/env bash
# Unsupervised HMMs with 45 states on the Brown corpus, scored against its tags: from random starts, with a tag
# dictionary of the most frequent words, with labelled sentences that choose among starts, and with labelled sentences
# to train on; as Markdown tables. Takes about three quarters of an hour.
#
#   bench/states.sh [TRELLIS] [CORPUS_DIRECTORY]
#
# The corpus directory contains train.txt and test.txt; without it nothing is measured. The tags are Brown's without
# affixes (-tl, -hl, +..., *, fw-): the 44 most frequent, and 'other'.
set -euo pipefail
cd "$(dirname "$0")/.."
trellis=$(realpath "${1:-build/trellis}")
corpus=${2:-../shared/data/brown}
[ -f "$corpus/train.txt" ] || { echo "skipped: no corpus in $corpus"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plain='function plain(t) { sub(/^fw-/, "", t); if (t != "*" && t != "--") sub(/[-+*].*/, "", t); return t }'
awk "$plain"' NF == 2 { n[plain($2)]++ } END { for (t in n) print n[t], t }' "$corpus/train.txt" |
    sort -k1,1nr -k2,2 | awk 'NR <= 44 { print $2 }' >"$work/tags"
for part in train test; do
    awk "$plain"' NR == FNR { keep[$1]; next }
        NF == 2 { t = plain($2); print $1, (t in keep) ? t : "other"; next } { print "" }' \
        "$work/tags" "$corpus/$part.txt" >"$work/$part"
done

# dictionary N: the N most frequent words with the tags of at least 1 % of the occurrences of each.
dictionary() {
    awk 'NF == 2 { n[$1]++; c[$1 "\t" $2]++ }
        END { for (k in c) { split(k, a, "\t"); if (c[k] >= n[a[1]] / 100) print n[a[1]] "\t" k } }' "$work/train" |
        sort -t "$(printf '\t')" -k1,1nr -k2,2 -k3,3 |
        awk -F '\t' -v count="$1" 'seen == count && $2 != word { next }
            $2 != word { if (seen++) print line; word = $2; line = $2 "\t" $3; next }
            { line = line " " $3 } END { print line }'
}

# learn OPTION...: EM with a little smoothing.
learn() {
    "$trellis" train -t hmm --alpha 0.01 -m "$work/model" "$@" 2>"$work/err" || { tail -n 3 "$work/err" >&2; exit 1; }
}

# states NAME OPTION...: learns 45 states from all of the training text, prints how they agree with the tags.
states() {
    local name=$1 start end
    shift
    start=$EPOCHREALTIME
    learn --states 45 -e 100 "$@" "$work/train"
    end=$EPOCHREALTIME
    "$trellis" eval --clusters --json -m "$work/model" "$work/train" >"$work/json"
    awk -v name="$name" -v options="$*" -v seconds="$(awk -v a="$start" -v b="$end" 'BEGIN { print b - a }')" \
        -v log_p="$("$trellis" info "$work/model" | awk '$1 == "log-likelihood" { print $2 }')" \
        -v iterations="$(sed -n 's/.*after \([0-9]*\) iterations.*/\1/p' "$work/err" | tail -n 1)" -F '[:,]' '
        { gsub(/[ "]/, "", $1); v[$1] = $2 }
        END { sub("/.*/", "", options); printf "| %s | %.4f | %.2f | %.2f | %.3f | %.2f | %d | %.1f |\n", name, log_p,
            100 * v["many_to_one"], 100 * v["one_to_one"], v["variation_of_information"], 100 * v["v_measure"],
            iterations, seconds / iterations }' "$work/json"
}

echo "| start | log P per token | many-to-one | one-to-one | VI, bits | V-measure | iterations | seconds per iteration |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|"
for seed in 1 2 3 4 5; do
    states "random, seed $seed" -a em --seed "$seed"
done
states "random, seed 1, hard EM" -a viterbi --seed 1
for words in 100 1000; do
    dictionary "$words" >"$work/dictionary"
    states "dictionary of $words words" -a em --dictionary "$work/dictionary"
done

# clusters PART NAME: a score of the states of the model against the tags of a part.
clusters() { "$trellis" eval --clusters --json -m "$work/model" "$work/$1" | sed -n "s/.*\"$2\": \([0-9.][0-9.]*\).*/\1/p"; }

# One sentence in forty is held out to choose by. A line for each start: log P, and many-to-one and one-to-one of these
# sentences and of the test text.
awk -v dev="$work/held" 'NF == 0 { s++ } { if (s % 40 == 20) print >dev; else print }' "$work/train" >"$work/train-part"
for seed in 1 2 3 4 5 6 7 8 9 10; do
    learn --states 45 -e 100 -a em --seed "$seed" "$work/train-part"
    echo "$("$trellis" info "$work/model" | awk '$1 == "log-likelihood" { print $2 }')" \
        "$(clusters held many_to_one) $(clusters held one_to_one)" \
        "$(clusters test many_to_one) $(clusters test one_to_one)"
done >"$work/starts"

echo
echo "| ten random starts | many-to-one, test text | one-to-one, test text |"
echo "|---|---:|---:|"
awk '{ for (k = 1; k <= 5; k++) { v[NR, k] = $k; if (!(k in best) || $k > v[best[k], k]) best[k] = NR } m += $4; o += $5
        m2 += $4 * $4; o2 += $5 * $5 }
    function row(name, i) { printf "| %s | %.2f | %.2f |\n", name, 100 * v[i, 4], 100 * v[i, 5] }
    END {
        printf "| mean ± standard deviation | %.2f ± %.2f | %.2f ± %.2f |\n", 100 * m / NR, 100 * sqrt((m2 - m * m / NR) / (NR - 1)),
            100 * o / NR, 100 * sqrt((o2 - o * o / NR) / (NR - 1))
        row("chosen by the likelihood", best[1])
        row("chosen by many-to-one of the sentences held out", best[2])
        row("chosen by one-to-one of the sentences held out", best[3])
    }' "$work/starts"
learn --states 45 -e 100 -a em --restarts 5 --patience 0 --dev "$work/held" --dev-score one-to-one "$work/train-part"
echo "| five starts, start and iteration chosen by one-to-one (\`--dev-score one-to-one\`) |" \
    "$(clusters test many_to_one) | $(clusters test one_to_one) |" | awk -F '|' '{ printf "|%s| %.2f | %.2f |\n", $2, 100 * $3, 100 * $4 }'

# labelled NAME SENTENCES OPTION...: learns from some labelled sentences, prints the accuracy on the test text.
labelled() {
    local name=$1 sentences=$2
    shift 2
    awk -v n="$sentences" -v rest="$work/rest" 'NF == 0 { s++ } { if (s < n) print; else print >rest }' "$work/train" \
        >"$work/some"
    learn "$@" "$work/some"
    echo "| $name | $("$trellis" eval -m "$work/model" "$work/test" | sed -n '2s/accuracy: *\([0-9.]*\).*/\1/p') |"
}
awk 'NF == 0 { s++ } s >= 1000 && s < 1500' "$work/train" >"$work/dev"

echo
echo "| 1000 labelled sentences, and | accuracy on the test text |"
echo "|---|---:|"
labelled "nothing else (\`-f id --alpha 0.01\`)" 1000 -f id
labelled "the rest unlabelled, 20 iterations" 1000 -a em -e 20 --unlabelled "$work/rest"
labelled "the rest, until the accuracy on 500 others falls" 1000 -a em -e 20 --patience 2 --dev "$work/dev" --unlabelled "$work/rest"
labelled "the rest with weight 0.01, 20 iterations" 1000 -a em -e 20 --unlabelled "$work/rest" --unlabelled-weight 0.01
