# Scores of hand-made files; tests/eval/test_evaluation.c has many more cases.
. tests/cli/lib.sh
t=$TRELLIS_TMP

columns $t/right a/B-X/B-X b/I-X/I-X c/O/O "|" d/B-Y/B-Y
check eval_right 0 eval $t/right
columns $t/wrong a/B-X/O b/I-X/B-X c/O/I-Y
check eval_wrong 0 eval $t/wrong
columns $t/after_o a/B-X/I-X b/I-X/I-X c/O/O "|" d/O/I-X e/B-X/I-X
check eval_after_o 0 eval $t/after_o
columns $t/change a/B-X/I-X b/B-Y/I-Y c/B-Y/I-Y
check eval_change 0 eval $t/change
columns $t/iobes a/S-X/S-X b/B-X/B-X c/I-X/I-X d/E-X/E-X e/B-X/S-X f/E-X/S-X
check eval_iobes 0 eval $t/iobes
check eval_strict 0 eval --strict --scheme iob2 $t/after_o
columns $t/pos a/DT/DT b/NN/VB c/VB/VB "|" d/NN/NN
check eval_labels 0 eval $t/pos
check eval_json 0 eval --json $t/change
check eval_labels_json 0 eval --json $t/pos
check eval_two_files 0 eval $t/right $t/wrong
columns $t/three a/B-X/u/B-X b/I-X/v/O
check eval_label_column 0 eval --label 2 $t/three

columns $t/states a/DT/s1 b/NN/s2 c/VB/s3 "|" d/NN/s2 e/NN/s1 f/JJ/s4
check eval_clusters 0 eval --clusters $t/states
check eval_clusters_json 0 eval --clusters --json $t/states

columns $t/first a/B-X/B-X b/I-X/O c/O/O "|" d/B-Y/B-Y "|" e/O/B-X f/B-X/B-X "|" g/B-X/O
columns $t/second a/B-X/B-X b/I-X/I-X c/O/O "|" d/B-Y/B-Y "|" e/O/O f/B-X/B-X "|" g/B-X/B-X
check eval_details 0 eval --details $t/first
check eval_cost 2 eval -m $t/none --cost $t/none $t/first
check eval_against 0 eval $t/first --against $t/second
check eval_against_json 0 eval --json $t/first --against $t/second
want "all is one JSON object" python3 -c 'import json,sys; json.load(open(sys.argv[1]))["comparison"]["f1"]["p"]' $out
check eval_bootstrap 0 eval --bootstrap 200 $t/first
check eval_against_other_gold 1 eval $t/first --against $t/right

input=$t/right
check eval_right 0 eval -
check eval_right 0 eval
input=/dev/null
check eval_empty 1 eval

columns $t/single a b "|" c
check eval_single_column 1 eval $t/single
columns $t/ragged a/B-X/B-X b/I-X/I-X "|" c/O/O d/O
check eval_ragged 1 eval $t/ragged
check eval_missing 1 eval $t/there/is/no/such/file
check eval_folder 1 eval $t
finish
