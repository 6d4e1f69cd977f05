# Probabilities: thresholds, marginals of all labels, likelihood and calibration.
. tests/cli/lib.sh
t=$TRELLIS_TMP
columns $t/train the/B-A cat/I-A sleeps/O "|" a/B-A dog/I-A barks/O loudly/O "|" \
    dogs/B-B chase/O the/B-A cats/I-A "|" cats/B-B sleep/O
columns $t/test the/B-A dog/I-A cats/B-B "|" birds/B-B chase/O
run 0 train -q -t crf --label 2 -m $t/crf $t/train
run 0 train -q -t perceptron -e 3 --label 2 -m $t/perceptron $t/train

run 0 tag -m $t/crf $t/test
cp $out $t/all
run 0 tag -m $t/crf --threshold 0 $t/test
want "a threshold of 0 leaves nothing out" cmp $out $t/all
run 0 tag -m $t/crf --threshold 1 $t/test
want "a threshold of 1 leaves no span" test "$(awk 'NF { print $3 }' $out | sort -u)" = O
run 0 tag -m $t/crf --threshold 0.7 -j 3 $t/test
cp $out $t/some
run 0 tag -m $t/crf --threshold 0.7 --unbuffered $t/test
want "threads change nothing" cmp $out $t/some
want "what is left was there" awk 'NR == FNR { label[FNR] = $3; next } $3 != "O" && $3 != label[FNR] { exit 1 }' $t/all $t/some
check threshold_perceptron 1 tag -m $t/perceptron --threshold 0.5 $t/test
check threshold_range 2 tag -m $t/crf --threshold 1.5 $t/test
check threshold_nbest 2 tag -m $t/crf --threshold 0.5 --nbest 2 $t/test

run 0 tag -m $t/crf --marginals --all-marginals $t/test
want "the probabilities of all labels sum to 1" awk 'NF { sum = 0; for (i = 5; i <= NF; i++) { split($i, p, ":"); sum += p[2] } if (sum < 0.9995 || sum > 1.0005) exit 1 }' $out
want "that of the predicted label is among them" awk 'NF { found = 0; for (i = 5; i <= NF; i++) found = found || $i == $3 ":" $4; if (!found) exit 1 }' $out
check all_marginals_nbest 2 tag -m $t/crf --all-marginals --nbest 2 $t/test

# The likelihood of the gold labels agrees with --nbest.
run 0 eval -m $t/crf --json $t/test
cp $out $t/json
run 0 tag -m $t/crf --nbest 1000 $t/test
want "likelihood and known words are in the report" python3 - $t/json $out <<'PY'
import json, math, sys
report = json.load(open(sys.argv[1]))
gold = [["B-A", "I-A", "B-B"], ["B-B", "O"]]
sums, p, labels = 0.0, None, []
def end_sequence():
    global sums
    if p is not None and labels in gold:
        sums += math.log(p)
for line in open(sys.argv[2]):
    cells = line.split()
    if line.startswith("# "):
        end_sequence()
        p, labels = float(cells[3]), []
    elif cells:
        labels.append(cells[2])
end_sequence()
assert abs(report["log_likelihood"] - sums) < 0.01, (report["log_likelihood"], sums)
assert [(row["words"], row["gold"]) for row in report["by_vocabulary"]] == [("in vocabulary", 4), ("OOV", 1)]
assert sum(row["gold"] for row in report["by_confidence"]) == 5
assert 0 <= report["calibration_error"] <= 1
PY
# In-vocabulary words of predictions by another program.
run 0 eval --json --train $t/train $t/all
want "words of --train are known" grep -q '"words": "in vocabulary", "gold": 4' $out
check train_missing 1 eval --train $t/nowhere $t/all
finish
