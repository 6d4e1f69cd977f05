# Hyperparameter search: results, and searches that are killed.
. tests/cli/lib.sh
t=$TRELLIS_TMP
data=data/english/train.conll
learn="-t perceptron -e 2 --label 3"

# A grid on --dev: each score is that of training and tagging with those options.
run 0 tune -q $learn --dev data/english/dev.conll --try order=0,1 --try features=id,extended --json $data
cp $out $t/json
run 0 train -q $learn --dev data/english/dev.conll --order 0 -f extended -m $t/model $data
run 0 eval -m $t/model --label 3 --json data/english/dev.conll
want "scores are those of train and eval" python3 - $t/json $out <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))
report = json.load(open(sys.argv[2]))
assert len(rows) == 4
assert [r["score"] for r in rows] == sorted((r["score"] for r in rows), reverse=True)
row = [r for r in rows if r["settings"] == {"order": "0", "features": "extended"}][0]
assert abs(row["score"] - report["f1"]) < 1e-12, (row, report["f1"])
PY

# Cross-validation scores are pooled, as those of cv.
run 0 tune -q $learn -k 2 --try order=1 --json $data
cp $out $t/json
run 0 cv -q $learn -k 2 --json $data
want "a score is the pooled one of cv" python3 -c 'import json,sys; a,b=(json.load(open(p)) for p in sys.argv[1:]); assert abs(a[0]["score"]-b["pooled"]["f1"]) < 1e-12' $t/json $out

# Successive halving, a table and a picture; a search killed at any time is resumed.
search="$learn -k 2 --try order=0..2 --try min-count=1,2,3 --halving 3"
run 0 tune $search -r $t/whole --plot $t/plot.svg $data
cp $out $t/table
want "nine settings, three of them with three times as much, one with all" test "$(grep -c settings $t/whole)" = 13
want "the picture is well-formed" python3 -c 'import sys, xml.dom.minidom as m; d=m.parse(sys.argv[1]); assert len(d.getElementsByTagName("circle")) == 26' $t/plot.svg
want "each budget has its part of the picture" test "$(grep -oE '>(Full budget|1/[0-9]+ of the budget): [0-9]+ settings?<' $t/plot.svg | tr -d '<>' | paste -sd, )" = "Full budget: 1 setting,1/3 of the budget: 3 settings,1/9 of the budget: 9 settings"
want "ticks are round" python3 - $t/plot.svg <<'PY'
import sys, xml.dom.minidom as m
ticks = [t for t in m.parse(sys.argv[1]).getElementsByTagName("text") if t.getAttribute("class") == "tick"]
panels = {}
for t in ticks:
    panels.setdefault((t.getAttribute("x"), int(float(t.getAttribute("y"))) // 274), []).append(float(t.firstChild.data))
assert len(panels) == 6, panels
for scores in panels.values():
    steps = {round(b - a, 6) for a, b in zip(scores, scores[1:])}
    assert len(steps) == 1 and float("%e" % steps.pop().__abs__()) in [d * 10 ** p for d in (1, 2, 5) for p in (-2, -1, 0, 1)], scores
PY
want "the table has all settings, and the command of the best" test "$(grep -c -- --min-count $t/table)" = 10
command=$(tail -n 1 $t/table)
want "the command has the best setting" grep -qE "^trellis train --label 3 .*$(awk 'NR == 2 { print $6, $7 }' $t/table)" <<<"$command"
run 0 $(sed "s|^trellis ||; s|MODEL|$t/by_hand|" <<<"$command")
run 0 tune -q $search -r $t/whole -m "$t/it's best" $data
want "-m trains what the command trains" cmp $t/by_hand "$t/it's best"
want "names are quoted for the shell" grep -qF -- "-m '$t/it'\\''s best' $data" $out
run 0 tune $search -r $t/whole $data
want "nothing is tried again" test ! -s $err
want "and the result is the same" cmp $out $t/table
for wait in 0.02 0.05 0.1 0.2 0.3; do
    rm -f $t/killed
    "$TRELLIS" tune $search -r $t/killed $data >/dev/null 2>&1 &
    pid=$!
    sleep $wait
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    had=$(grep -c settings $t/killed 2>/dev/null)
    run 0 tune $search -r $t/killed $data
    want "killed after $wait s: the ${had:-0} scores it had are kept" test "$(grep -c -- --order $err)" = $((13 - ${had:-0}))
    want "killed after $wait s: the ranks are the same" diff <(awk '{ $3 = ""; print }' $t/table) <(awk '{ $3 = ""; print }' $out)
done
run 0 tune -q $learn --budget epochs -e 9 -k 2 --try order=0,1,2 --halving 3 --json $data
want "epochs are a budget, too" grep -q '"share": 0.333' $out
run 0 tune -q -t crf -e 2 --label 3 -k 2 --try l2=0.01..10 --trials 3 --seed 5 --json $data
want "three random settings" test "$(grep -c '"l2"' $out)" = 3

check tune_other_task 1 tune -q -t perceptron -e 1 --label 3 -k 2 --try order=0..2 --try min-count=1,2,3 --halving 3 -r $t/whole $data
check tune_no_try 2 tune $data
check tune_no_file 2 tune --try l2=1
check tune_bad_try 2 tune --try l3=1,2 $data
check tune_bad_range 2 tune --try l2=3..1 $data
check tune_budget 2 tune --try l2=1,2 --budget epochs $data
check tune_folds_dev 2 tune --try l2=1,2 -k 3 --dev $data $data
check tune_no_setting 1 tune -q $learn -k 2 --try l2=0.1,1 $data
check tune_no_results 1 tune -q --try l2=1,2 -r $t/no/such $data
finish
