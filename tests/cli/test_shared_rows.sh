# Attributes that always occur together share a row while a CRF is trained. The reference: k of them are one attribute
# with the value sqrt(k), which is trained without sharing, and whose weight is sqrt(k) times that of each.
. tests/cli/lib.sh
t=$TRELLIS_TMP
"$TRELLIS" features -f pos --label 3 data/english/train.conll | head -n 1500 >$t/plain
"$TRELLIS" features -f pos --label 3 data/english/test.conll | head -n 600 >$t/plain_dev

# Every attribute of the first half of the alphabet is there three times.
awk -F'\t' -v OFS='\t' '{ n = NF; for (i = 2; i <= n; i++) if ($i ~ /[a-mA-M]$/) $0 = $0 OFS $i "~2" OFS $i "~3"; print }' \
    $t/plain >$t/threefold
awk -F'\t' -v OFS='\t' '{ for (i = 2; i <= NF; i++) if ($i ~ /[a-mA-M]$/) $i = $i ":1.7320508"; print }' $t/plain >$t/valued
awk -F'\t' -v OFS='\t' '{ n = NF; for (i = 2; i <= n; i++) if ($i ~ /[a-mA-M]$/) $0 = $0 OFS $i "~" 2 + NR % 3; print }' \
    $t/plain_dev >$t/dev

objective() { "$TRELLIS" info "$1" | awk '$1 == "objective" { print $2 }'; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d * d <= 1e-8 * a * a) }'; }

end="--delta 1e-7 -e 300"
for way in "-a lbfgs --warm-up 0 $end" "-a lbfgs $end" "-a cg -e 6" "-a sgd -e 3 --rate 0.1" "-a lbfgs --order 0 $end" \
    "-a lbfgs --all-features $end" "-a lbfgs --min-count 3 $end"; do
    run 0 train -q --format crfsuite -t crf $way -j 1 -m $t/threefold.model $t/threefold
    run 0 train -q --format crfsuite -t crf $way -j 1 -m $t/valued.model $t/valued
    want "$way: the same objective" near "$(objective $t/threefold.model)" "$(objective $t/valued.model)"
    run 0 train -q --format crfsuite -t crf $way -j 3 -m $t/threads.model $t/threefold
    want "$way: the same for any number of threads" cmp $t/threefold.model $t/threads.model
    run 0 export $t/threefold.model
    awk -F'\t' '$1 != "node" { next } { $4 = "" }
        /~3/ { sub(/~3/, ""); three[$0] = 1; next } /~2/ { sub(/~2/, ""); two[$0] = 1; next } { one[$0] = 1 }
        END { for (line in three) { n++; bad += !(line in two) || !(line in one) } exit !(n > 20 && !bad) }' $out ||
        complain "$way: attributes that always occur together have different weights"
    "$TRELLIS" export $t/valued.model >$t/valued.text
    awk -F'\t' '$1 != "node" { next } NR == FNR { weight[$3, $5] = $2; next } !/~/ && /[a-mA-M]$/ && ($3, $5) in weight {
        n++; d = weight[$3, $5] - sqrt(3) * $2; bad += d * d > 4e-4 * $2 * $2 + 4e-6 }
        END { exit !(n > 20 && bad <= n / 100) }' $t/valued.text $out || complain "$way: weights are not those of one attribute"
done

# Dev data may have them apart, and is scored as by a tagger.
run 0 train -q --format crfsuite -t crf -a lbfgs -e 5 -j 1 --dev $t/dev -m $t/dev.model $t/threefold
told=$("$TRELLIS" info $t/dev.model | awk '$1 == "dev-accuracy" { printf "%.2f", 100 * $2 }')
run 0 eval --format crfsuite -m $t/dev.model $t/dev
want "the accuracy on --dev ($told) is what eval finds" grep -q "accuracy: *$told%" $out

# The number of features is that without sharing, in messages and in the model.
run 0 train --format crfsuite -t crf -e 2 -j 1 -m $t/counted.model $t/threefold
features=$(sed -n 's/.* attributes, \([0-9]*\) features.*/\1/p' $err)
run 0 info $t/counted.model
want "all $features features have a weight" awk -v n="$features" '$1 == "weights" { found = $2 + $4 + $6 == n } END { exit !found }' $out

# With l1 or initial weights nothing is shared, and training works all the same.
run 0 train -q --format crfsuite -t crf --l1 1 -e 5 -j 1 -m $t/l1.model $t/threefold
run 0 train -q --format crfsuite -t crf --from $t/threefold.model -e 2 -j 1 -m $t/from.model $t/threefold
finish
