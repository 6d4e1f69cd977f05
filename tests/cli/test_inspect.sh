# The weights of a model, and explanations of predictions.
. tests/cli/lib.sh
t=$TRELLIS_TMP
columns $t/train the/DT cat/NN sleeps/VB "|" a/DT dog/NN barks/VB loudly/RB "|" \
    dogs/NN chase/VB the/DT cats/NN "|" cats/NN sleep/VB
run 0 train -q -t crf --label 2 -f id -m $t/crf $t/train

run 0 inspect --top 2 $t/crf
want "each label has a part" test "$(grep -cE '^(DT|NN|VB|RB)$' $out)" = 4
want "the transitions are a table" grep -qE '^DT +[-.0-9]+ +[-.0-9]+' $out
run 0 inspect --label NN --top 1 $t/crf
want "one label only" test "$(head -n 1 $out)" = NN
want "and no tables" test "$(grep -c template $out)" = 0
check inspect_no_label 1 inspect --label XX $t/crf
check inspect_no_model 2 inspect
check inspect_not_a_model 1 inspect $t/train
run 0 inspect --json $t/crf
want "the JSON is well-formed" python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert len(d["labels"]) == 5 and len(d["transitions"]) == 5' $out
want "a transition has the labels before and after it" python3 -c '
import json, sys
for label in json.load(open(sys.argv[1]))["labels"]:
    for step in label.get("transitions_highest", []) + label.get("transitions_lowest", []):
        assert len(step["labels"]) == 2 and step["labels"][1] == label["label"]' $out

run 0 explain -m $t/crf --words 'the dog sleeps'
want "a part for each token" test "$(grep -cE '^[123] (the|dog|sleeps): [A-Z]+ \(0\.[0-9]+\), runner-up' $out)" = 3
run 0 explain -m $t/crf --label 2 $t/train
want "all sequences of a file" test "$(grep -c ', runner-up ' $out)" = 13
run 0 explain -m $t/crf --label 2 --sequence 2 --top 1000 $t/train
want "or one of them" test "$(grep -c ', runner-up ' $out)" = 4
# The lines of a token add up to its margin, up to the rounding of what is printed.
want "margins add up" awk '/, runner-up / { margin = $NF; sum = 0; n = 0; next }
    /^  +[-0-9]/ { sum += $3; n++ }
    /runner-up labelling/ { d = sum - margin; if (d < 0) d = -d; if (d > 0.0001 * (n + 1)) exit 1; seen++ }
    END { exit seen != 4 }' $out
run 0 explain -m $t/crf --json --top 100 --words 'the dog sleeps'
want "those of JSON exactly" python3 -c '
import json, sys
for token in json.load(open(sys.argv[1]))["tokens"]:
    margin = sum(c["predicted"] - c["runner_up"] for c in token["contributions"])
    assert token["omitted"] == 0 and abs(margin - token["margin"]) < 1e-9' $out
check explain_no_model 2 explain --words a
check explain_no_sequence 1 explain -m $t/crf --label 2 --sequence 5 $t/train
check explain_uneven 2 explain -m $t/crf --words 'a|b c'
finish
