# Models of CRF++ and Wapiti: the labels of `trellis tag` against those of the programs themselves, where they are on
# PATH, on models of theirs and on models that they learn here.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/model/foreign
cd "$TRELLIS_TMP"

# The last field of each token.
labels() { awk 'NF { print $NF }'; }

# compare MODEL DATA FILE-OF-LABELS
compare() {
    "$TRELLIS" tag -m "$1" --invalid-utf8 keep "$2" | labels >ours
    labels <"$3" >theirs
    cmp ours theirs || { echo "$1: labels differ"; exit 1; }
    "$TRELLIS" convert -m "$1" -o converted
    "$TRELLIS" tag -m converted --invalid-utf8 keep "$2" | labels | cmp - theirs
}

# Cells with the separators of templates, with what stands for places outside the sequence and with what looks like a
# template: many pairs of cells make the same string. The label depends on the cells.
awk 'BEGIN {
    srand(7)
    n = split("a / : % a/ /a a:b b : a/b %x[0,0] %x _B-1 _B+1 _x-1 _x+1 // :: %% /: U00: [0,0] , \" b/a \303\251", cells, " ")
    for (i = 0; i < 900; i++) {
        x = int(rand() * n) + 1
        y = int(rand() * n) + 1
        printf "%s\t%s\t%s\n", cells[x], cells[y], "L" (x * y + int(rand() * 1.4)) % 5
        if (rand() < 0.15) {
            print ""
        }
    }
    print ""
}' >separators.txt
cat >separators.template <<'END'
U00:%x[0,0]/%x[0,1]
U01:%x[0,0]:%x[0,1]
U02:%x[-1,0]/%x[0,0]/%x[1,0]
U:%x[0,1]%x[0,0]
U%x[-1,1]%x[1,1]
B01:%x[0,0]/%x[-1,1]
B
END

ran=0
if command -v wapiti >/dev/null; then
    for model in "$data"/wapiti/{rich,memm,maxent,1.0.1,1.3.0,quirk,ties}.model; do
        wapiti label -c -m "$model" "$data/test.txt" >out 2>/dev/null
        compare "$model" "$data/test.txt" out
    done
    for type in maxent memm crf; do
        wapiti train -T $type -i 10 -p "$data/wapiti/nodes.pattern" "$data/train.txt" learned 2>/dev/null
        wapiti label -c -m learned "$data/train.txt" >out 2>/dev/null
        compare learned "$data/train.txt" out
    done
    wapiti train -i 20 -1 0.01 -p separators.template separators.txt learned 2>/dev/null
    wapiti label -c -m learned separators.txt >out 2>/dev/null
    compare learned separators.txt out
    ran=1
fi
if command -v crf_test >/dev/null; then
    for model in "$data"/crfpp/{rich,mira,ties}.model; do
        crf_test -m "$model" "$data/test.txt" >out
        compare "$model" "$data/test.txt" out
    done
    ran=1
fi
if command -v crf_learn >/dev/null; then
    for options in "-a CRF-L2 -m 20" "-a CRF-L1 -m 20" "-a MIRA -m 4"; do
        # shellcheck disable=SC2086
        crf_learn $options -p 1 separators.template separators.txt learned >/dev/null
        crf_test -m learned separators.txt >out
        compare learned separators.txt out
    done
    # crf_test -c: the text form with all weights multiplied has the same probabilities.
    "$TRELLIS" export learned | awk -F'\t' -v OFS='\t' -v CONVFMT=%.9g -v OFMT=%.9g \
        '$1 ~ /^(node|edge|step)$/ { $2 *= 0.25 } { print }' | "$TRELLIS" import -m scaled -
    crf_test -c 0.25 -n 2 -m learned separators.txt | awk '/^# [0-9]+ [0-9.]+$/ { print $3 }' >theirs
    "$TRELLIS" tag -m scaled --nbest 2 separators.txt | awk '/^# [0-9]+ [-0-9.]+ [0-9.]+$/ { print $4 }' >ours
    paste ours theirs | awk '{ d = $1 - $2; bad += d > 2e-6 || d < -2e-6 } END { exit NR < 100 || bad }' ||
        { echo "other probabilities than crf_test -c"; exit 1; }
    ran=1
fi
[ $ran = 1 ] || { echo "neither wapiti nor crf_test is on PATH"; exit 77; }
