# Sampled corpora.
. tests/cli/lib.sh
t=$TRELLIS_TMP

run 0 sample --labels 4 --vocabulary 50 -n 300 --seed 7
cp $out $t/one
want "there are as many tokens as asked for" test "$(grep -c . $t/one)" -ge 300
run 0 sample --labels 4 --vocabulary 50 -n 300 --seed 7 -o $t/two
want "a seed gives one corpus" cmp $t/one $t/two
run 0 sample --labels 4 --vocabulary 50 -n 300 --seed 8
want "another seed gives another" test "$(md5sum <$out)" != "$(md5sum <$t/one)"
run 2 sample --labels 0
run 2 sample corpus
run 1 sample -m $t/one
finish
