# Cross-validation and comparisons, against train and eval run one by one.
. tests/cli/lib.sh
t=$TRELLIS_TMP
data=data/english/train.conll
learn="-t perceptron -e 2 --label 3"

run 0 cv -q -k 3 $learn --json $data
cp $out $t/json
: >$t/scores
for k in 1 2 3; do
    run 0 train -q $learn --part "!$k/3" -m $t/model $data
    run 0 eval -m $t/model --label 3 --part $k/3 --json $data
    python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["sequences"], d["spans_gold"], d["spans_predicted"], d["spans_correct"], d["f1"])' $out >>$t/scores
done
want "folds, mean, deviation and pooled figures are those of the folds" python3 - $t/json $t/scores <<'PY'
import json, statistics, sys
report = json.load(open(sys.argv[1]))
rows = [list(map(float, line.split())) for line in open(sys.argv[2])]
f1 = [row[4] for row in rows]
assert len(report["folds"]) == 3
for fold, row in zip(report["folds"], rows):
    assert fold["sequences"] == row[0] and abs(fold["f1"] - row[4]) < 1e-12
assert abs(report["mean"]["f1"] - statistics.mean(f1)) < 1e-12
assert abs(report["deviation"]["f1"] - statistics.stdev(f1)) < 1e-12
gold, predicted, correct = (sum(row[i] for row in rows) for i in (1, 2, 3))
assert abs(report["pooled"]["f1"] - 2 * correct / (gold + predicted)) < 1e-12
assert report["pooled"]["sequences"] == sum(row[0] for row in rows) == 450
PY
run 0 cv -q -k 3 $learn --seed 2 --json $data
want "another seed gives other folds" bash -c "! cmp -s <(grep -o 'f1.*' $out) <(grep -o 'f1.*' $t/json)"
run 0 cv -k 2 $learn $data
want "each fold is reported" test "$(grep -c 'fold [12] of 2' $err)" = 2
want "the table has folds, mean, deviation and pooled figures" test "$(awk 'NR > 1 { print $1 }' $out | tr '\n' ' ')" = "1 2 mean stddev pooled "
check cv_folds 2 cv -k 1 $data
check cv_no_file 2 cv
check cv_stdin 2 cv -
check cv_missing 1 cv -q $t/nowhere
check part_wrong 2 cv -q --part 1/2 $data
check convert_part 2 convert --part 4/3 $data

run 0 compare -q --label 3 -e 2 --types perceptron,perceptron:plain,hmm,nothing --sets id,extended --json $data data/english/test.conll
cp $out $t/json
run 0 train -q $learn -f extended -m $t/model $data
run 0 eval -m $t/model --label 3 --json data/english/test.conll
want "a row is what train and eval say" python3 - $t/json $out <<'PY'
import json, sys
rows = {(r["learner"], r["features"]): r for r in json.load(open(sys.argv[1]))}
report = json.load(open(sys.argv[2]))
assert len(rows) == 8
row = rows["perceptron", "extended"]
assert abs(row["f1"] - report["f1"]) < 1e-12 and abs(row["accuracy"] - report["accuracy"]) < 1e-12
oov = [w for w in report["by_vocabulary"] if w["words"] == "OOV"][0]
assert abs(row["oov_accuracy"] - oov["correct"] / oov["gold"]) < 1e-12
assert "problem" in rows["nothing", "id"] and "f1" in rows["hmm", "id"] and "problem" in rows["hmm", "extended"]
assert rows["perceptron:plain", "id"]["f1"] != rows["perceptron", "id"]["f1"]
PY
run 0 compare --label 3 -e 1 --types perceptron --sets id $data data/english/test.conll
want "the best row is marked" grep -q 'perceptron .* \*$' $out

# By itself it compares what `train` does by itself with the other learners, on the same templates.
run 0 compare -q --label 3 --types perceptron,crf:sgd,hmm --json $data data/english/test.conll
cp $out $t/json
run 0 train -q --label 3 -m $t/model $data
run 0 eval -m $t/model --json data/english/test.conll
want "the first row is plain train, and nothing worse is recommended" python3 - $t/json $out <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))
plain = rows[0]
assert plain["learner"] == "default" and plain["type"] and abs(plain["f1"] - json.load(open(sys.argv[2]))["f1"]) < 1e-12
assert [(r["learner"], r["features"]) for r in rows[1:]] == [("perceptron", plain["features"]), ("crf:sgd", plain["features"]), ("hmm", "hmm")]
best = [r for r in rows if r["best"]]
assert len(best) == 1 and "p" not in best[0] and best[0]["f1"] == max(r["f1"] for r in rows)
assert rows[3]["p"] < 0.05, "the HMM is significantly worse"
assert all(0 < r["p"] <= 1 for r in rows if not r["best"])
PY
run 0 compare -q --label 3 --types perceptron,hmm $data data/english/test.conll
want "rows that are no worse are marked, others are not" grep -qE '^8 (~\*|\*~)$' <(awk '/^hmm/ { print NF } /^(default|perceptron) / { marks = marks $NF } END { print marks }' $out | paste -sd' ')
check compare_one_file 2 compare $data
check compare_missing 1 compare -q $data $t/nowhere
finish
