#!/bin/bash
# make.sh WAPITI OLD_WAPITI CRFPP - makes the models and outputs of this folder again. WAPITI is the program of
# version 1.5.0, OLD_WAPITI a prefix such as bin/wapiti-v to which 1.0.1 and 1.3.0 are added, CRFPP the folder of
# crf_learn and crf_test of version 0.58 or 0.59.
set -eu
wapiti=$1 old=$2 crfpp=$3
cd "$(dirname "$0")"

# ---- Wapiti ----------------------------------------------------------------------------------------
learn() { # NAME PROGRAM TRAINING-DATA OPTION...
    local name=$1 program=$2 data=$3
    shift 3
    "$program" train "$@" -c -i 15 "$data" "wapiti/$name.model" 2>/dev/null
}
label() { # NAME EXTENSION DATA OPTION...
    local name=$1 extension=$2 data=$3
    shift 3
    "$wapiti" label -c "$@" -m "wapiti/$name.model" "$data" >"wapiti/$name.$extension" 2>/dev/null
}
learn crf "$wapiti" train.txt -1 0.3 -p wapiti/basic.pattern
learn rich "$wapiti" train.txt -1 0.3 -p wapiti/rich.pattern
learn sgd "$wapiti" train.txt -a sgd-l1 -1 0.2 -p wapiti/basic.pattern
learn l2 "$wapiti" train.txt -1 0 -2 0.5 -p wapiti/pairs.pattern
learn memm "$wapiti" train.txt -T memm -1 0.2 -p wapiti/basic.pattern
learn maxent "$wapiti" train.txt -T maxent -1 0.2 -p wapiti/nodes.pattern
learn 1.0.1 "${old}1.0.1" train.txt -1 0.3 -p wapiti/basic.pattern
learn 1.3.0 "${old}1.3.0" train.txt -1 0.3 -p wapiti/basic.pattern
learn cells "$wapiti" train-cells.txt -1 0.3
learn alone "$wapiti" <(sed '/^$/d' train-cells.txt) --me -T maxent -1 0.3
learn quirk "$wapiti" train.txt -1 0.1 -p wapiti/quirk.pattern
# Weights of -1 and 1: most scores are equal.
awk -F= '/^[0-9]+=/ { print $1 "=" (n++ % 3 ? "0x1p+0" : "-0x1p+0"); next } { print }' \
    wapiti/crf.model >wapiti/ties.model
for name in rich memm sgd l2; do
    label $name scores test.txt -s -n 2
done
for name in crf maxent quirk; do
    label $name scores test.txt -s -n 1
done
label cells scores test-cells.txt -s -n 2
label rich posteriors test.txt -s -p
label l2 posteriors test.txt -s -p
label maxent posteriors test.txt -s -p
for name in 1.0.1 1.3.0 ties; do
    label $name labels test.txt
done
label alone labels test-cells.txt

# ---- CRF++ -----------------------------------------------------------------------------------------
"$crfpp/crf_learn" -t -f 2 -m 8 -p 1 crfpp/rich.template train.txt crfpp/rich.model >/dev/null
"$crfpp/crf_learn" -t -f 2 -m 10 -p 1 crfpp/basic.template train.txt crfpp/l2.model >/dev/null
"$crfpp/crf_learn" -a MIRA -f 2 -m 5 -p 1 crfpp/basic.template train.txt crfpp/mira.model >/dev/null
"$crfpp/crf_learn" -a CRF-L1 -f 2 -m 10 -p 1 crfpp/basic.template train.txt crfpp/l1.model >/dev/null
rm crfpp/l2.model
awk '/^-?[0-9]+\.[0-9]+$/ { print (n++ % 3 ? "1.0" : "-1.0"); next } { print }' \
    crfpp/l2.model.txt >crfpp/ties.model.txt
"$crfpp/crf_learn" -C crfpp/ties.model.txt crfpp/ties.model >/dev/null
rm crfpp/ties.model.txt
"$crfpp/crf_test" -v2 -n2 -m crfpp/rich.model test.txt >crfpp/rich.marginals
"$crfpp/crf_test" -v2 -n2 -m crfpp/l1.model test.txt >crfpp/l1.marginals
"$crfpp/crf_test" -v2 -n2 -m crfpp/mira.model test.txt >crfpp/mira.marginals
"$crfpp/crf_learn" -C crfpp/l2.model.txt l2.binary >/dev/null
"$crfpp/crf_test" -m l2.binary test.txt >crfpp/l2.labels
rm l2.binary
"$crfpp/crf_test" -m crfpp/ties.model test.txt >crfpp/ties.labels
