# Every command that takes a model takes those of CRFsuite, Wapiti and CRF++, and what convert makes of them.
. tests/cli/lib.sh
t=$TRELLIS_TMP
folder=tests/model/foreign

# says PATTERN COMMAND...: the command succeeds and its output has the pattern.
says() {
    local pattern=$1
    shift
    run 0 "$@" && want "trellis $*: $pattern" grep -q -e "$pattern" "$out"
}

# try MODEL PROGRAM ATTRIBUTE DATA-AND-OPTIONS...: every command with one model.
try() {
    local model=$1 program=$2 attribute=$3
    shift 3
    says "^program *$program" info "$model"
    says "\"program\": *\"$program\"" info --json "$model"
    says "$attribute" inspect "$model"
    says runner-up explain -m "$model" "$@"
    says '<svg' show -m "$model" "$@"
    says '^accuracy: ' eval -m "$model" "$@"
    run 0 report -m "$model" -o "$t/report.html" "$@"
    want "report on $model" grep -q '</html>' "$t/report.html"
    says '^trellis-text' export "$model"
    cp "$out" "$t/exported"
    run 0 import -m "$t/imported.model" "$t/exported"
    run 0 tag -m "$model" -o "$t/tagged" "$@"
    for again in "$t/imported.model" "$t/converted.model"; do
        [ "$again" = "$t/imported.model" ] || run 0 convert -m "$model" -o "$again"
        run 0 tag -m "$again" -o "$t/again" "$@"
        want "$again of $model: the same labels" cmp "$t/tagged" "$t/again"
    done
    run 0 convert -m "$model" --bits 16 -o "$t/small.model"
    run 0 tag -m "$t/small.model" "$@"
}

for name in lbfgs l1 l2sgd ap pa arow ties; do
    try $folder/crfsuite/$name.lcrf CRFsuite 'p=' --format crfsuite --invalid-utf8 keep $folder/crfsuite/test.txt
done
for name in crf rich sgd l2 memm maxent 1.0.1 1.3.0 quirk ties; do
    try $folder/wapiti/$name.model Wapiti 'u' --invalid-utf8 keep $folder/test.txt
done
try $folder/wapiti/cells.model Wapiti 'u' --invalid-utf8 keep $folder/test-cells.txt
for name in rich.model rich.model.txt l1.model mira.model l2.model.txt ties.model; do
    try $folder/crfpp/$name 'CRF++' 'U' --invalid-utf8 keep $folder/test.txt
done
finish
