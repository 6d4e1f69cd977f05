#!/usr/bin/env bash
# Training on CoNLL-2000 chunking: for each learner the time to a stated objective and to a stated FB1, the time of
# a pass and the peak of memory; then the same CRF on one thread and on two.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh
corpus=$shared/conll2000
[ -f "$corpus/train.txt" ] || { echo "training: skipped, no corpus in $corpus"; exit 0; }
template=examples/templates/crfpp-chunking.txt
goal=93

# reached KEY RELATION NUMBER: the seconds of the first iteration whose figure is at least (ge) or at most (le) it.
reached() {
    awk -v key="\"$1\": " -v relation="$2" -v goal="$3" '{
        at = index($0, key); figure = substr($0, at + length(key)) + 0
        if (at && (relation == "ge" ? figure >= goal : figure <= goal)) {
            sub(/.*"seconds": /, ""); print $0 + 0; found = 1; exit
        }
    } END { if (!found) print "null" }' "$work/log"
}

# learner NAME OBJECTIVE OPTION...
learner() {
    local name=$1 objective=$2 to_objective=null to_score passes
    shift 2
    rm -f "$work/log"
    measure "$trellis" train -j 1 -f "$template" --dev "$corpus/test.txt" --patience 0 --log "$work/log" \
        -m "$work/model" "$@" "$corpus/train.txt"
    passes=$(grep -c . "$work/log")
    [ "$objective" = null ] || to_objective=$(reached objective le "$objective")
    to_score=$(reached dev_f1 ge 0.$goal)
    [ "$to_score" != null ] || to_score=$(reached dev_f1 ge $goal)
    record training learner "$name" options "$*" seconds "$seconds" passes "$passes" \
        seconds_per_pass "$(calculate "$seconds / $passes")" objective "$objective" \
        seconds_to_objective "$to_objective" score $goal seconds_to_score "$to_score" peak_kilobytes "$peak"
    row "$name" "$seconds" "$passes" "$(calculate "$seconds / $passes")" "$objective" "$to_objective" "$to_score" \
        "$(megabytes "$peak")"
}

heading "Training, CoNLL-2000, one thread; scoring the test data after each pass included" \
    learner seconds passes "seconds a pass" objective "seconds to it" "seconds to FB1 $goal" "peak MB"
learner "averaged perceptron" null -t perceptron -e 8
learner "passive-aggressive" null -t perceptron -a pa1 -e 8
learner "CRF, SGD" 17000 -t crf -a sgd -e 8
learner "CRF, L-BFGS" 13100 -t crf -e 40
if [ -n "${BENCH_FULL:-}" ]; then
    learner "MIRA, m = 5" null -t mira -e 8
    learner "structural SVM, BCFW" null -t ssvm -e 8
    learner "CRF, L1" null -t crf --l1 0.5 -e 60
    learner "maximum entropy" null -t maxent -e 40
fi

heading "Threads, the same CRF by L-BFGS, 30 iterations" threads seconds "ratio to one"
for threads in 1 2; do
    times=()
    for _ in 1 2 3; do
        measure "$trellis" train -j $threads -f "$template" -t crf -e 30 -m "$work/model-$threads" "$corpus/train.txt"
        times+=("$seconds")
    done
    middle=$(median "${times[@]}")
    [ $threads = 1 ] && alone=$middle
    record threads threads $threads seconds "$middle" peak_kilobytes "$peak"
    row $threads "$middle" "$(calculate "$alone / $middle")"
done
cmp "$work/model-1" "$work/model-2" || { echo "bench: the number of threads changed the model" >&2; exit 1; }
