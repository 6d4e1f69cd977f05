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
    ran=1
fi
if command -v crf_test >/dev/null; then
    for model in "$data"/crfpp/{rich,mira,ties}.model; do
        crf_test -m "$model" "$data/test.txt" >out
        compare "$model" "$data/test.txt" out
    done
    ran=1
fi
[ $ran = 1 ] || { echo "neither wapiti nor crf_test is on PATH"; exit 77; }
