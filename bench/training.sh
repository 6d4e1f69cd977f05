#!/usr/bin/env bash
# Training on CoNLL-2000 chunking: for each learner the time to a given objective and to a given FB1, the time of a pass
# and peak memory; then the same CRF on one thread and on two, and by SGD with reading and writing; then passes over Brown
# with its 472 tags, and a whole training by the recipe.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/lib.sh
corpus=$(cut_corpus conll2000)
[ -n "$corpus" ] || { echo "training: skipped, no corpus in $shared/conll2000"; exit 0; }
template=examples/templates/crfpp-chunking.txt
goals="93 93.6"

# reached KEY RELATION NUMBER: the seconds until the figure is at least (ge) or at most (le) the number.
reached() {
    awk -v key="\"$1\": " -v relation="$2" -v goal="$3" '{
        at = index($0, key); figure = substr($0, at + length(key)) + 0
        if (at && (relation == "ge" ? figure >= goal : figure <= goal)) {
            sub(/.*"seconds": /, ""); print $0 + 0; found = 1; exit
        }
    } END { if (!found) print "null" }' "$work/log"
}

# learner NAME OBJECTIVE OPTION...: the objective of SGD is summed while the weights change.
learner() {
    local name=$1 objective=$2 to_objective=null goal passes pass to_score=() recorded=()
    shift 2
    rm -f "$work/log"
    measure "$trellis" train -j 1 -f "$template" --dev "$corpus/test.txt" --patience 0 --log "$work/log" \
        -m "$work/model" "$@" "$corpus/train.txt"
    passes=$(grep -c . "$work/log") pass=$(seconds_per_pass "$work/log")
    [ "$objective" = null ] || to_objective=$(reached objective le "$objective")
    for goal in $goals; do
        to_score+=("$(reached dev_f1 ge "$(calculate "$goal / 100")")")
        recorded+=("seconds_to_$goal" "${to_score[-1]}")
    done
    record training learner "$name" options "$*" seconds "$seconds" passes "$passes" seconds_per_pass "$pass" \
        objective "$objective" seconds_to_objective "$to_objective" "${recorded[@]}" peak_kilobytes "$peak"
    row "$name" "$seconds" "$passes" "$pass" "$objective" "$to_objective" "${to_score[@]}" "$(megabytes "$peak")"
}

columns=()
for goal in $goals; do columns+=("seconds to FB1 $goal"); done
heading "Training, CoNLL-2000, one thread, including scoring the test data after each pass" \
    learner seconds passes "seconds per pass" objective "seconds to it" "${columns[@]}" "peak MB"
learner "averaged perceptron" null -t perceptron -e 8
learner "passive-aggressive" null -t perceptron -a pa1 -e 8
learner "CRF, SGD" 17000 -t crf -a sgd -e 8
learner "CRF, L-BFGS" 13100 -t crf
if [ -n "${BENCH_FULL:-}" ]; then
    learner "MIRA, m = 5" null -t mira -e 8
    learner "structural SVM, BCFW" null -t ssvm -e 8
    learner "CRF, L1" null -t crf --l1 0.5 -e 60
    learner "maximum entropy" null -t maxent -e 40
fi

heading "Threads, the same CRF by L-BFGS until it stops" threads seconds "ratio to one"
for threads in 1 2; do
    times=()
    for _ in 1 2 3; do
        measure "$trellis" train -j $threads -f "$template" -t crf -m "$work/model-$threads" "$corpus/train.txt"
        times+=("$seconds")
    done
    middle=$(median "${times[@]}")
    [ $threads = 1 ] && alone=$middle
    record threads threads $threads seconds "$middle" peak_kilobytes "$peak"
    row $threads "$middle" "$(calculate "$alone / $middle")"
done
cmp "$work/model-1" "$work/model-2" || { echo "bench: the number of threads changed the model" >&2; exit 1; }

# score FILE NAME: the first number that `trellis eval` of $work/model prints behind a name.
score() {
    "$trellis" eval -m "$work/model" "$1" |
        awk -v name="$2: *" '!found && match($0, name) { found = 1; print substr($0, RSTART + RLENGTH) + 0 }'
}

heading "CRF by SGD, four epochs, with reading and writing" threads seconds FB1 "peak MB"
for threads in 1 2; do
    times=()
    for _ in 1 2 3; do
        measure "$trellis" train -q -j $threads -f "$template" -t crf -a sgd -e 4 -m "$work/model" "$corpus/train.txt"
        times+=("$seconds")
    done
    middle=$(median "${times[@]}") f1=$(score "$corpus/test.txt" FB1)
    record sgd threads $threads epochs 4 seconds "$middle" f1 "$f1" peak_kilobytes "$peak"
    row $threads "$middle" "$f1" "$(megabytes "$peak")"
done

brown=$(cut_corpus brown)
[ -n "$brown" ] || { echo "training: no corpus in $shared/brown"; exit 0; }
iterations=3
[ -z "${BENCH_FULL:-}" ] || iterations=10
heading "Brown, all tags, preset pos, two threads" learner seconds "seconds per pass" accuracy "peak MB"
for learner in "perceptron" "crf --warm-up 0"; do
    rm -f "$work/log"
    # shellcheck disable=SC2086 # its options are words
    measure "$trellis" train -j 2 -f pos -t $learner -e $iterations --log "$work/log" -m "$work/model" "$brown/train.txt"
    pass=$(seconds_per_pass "$work/log")
    record brown learner "$learner" seconds "$seconds" seconds_per_pass "$pass" peak_kilobytes "$peak"
    row "$learner" "$seconds" "$pass" "" "$(megabytes "$peak")"
done
measure "$trellis" train -q -j 2 -f pos --seeds 1 -m "$work/model" "$brown/train.txt"
accuracy=$(score "$brown/test.txt" accuracy)
record brown learner "recipe, one seed" seconds "$seconds" accuracy "$accuracy" peak_kilobytes "$peak"
row "recipe, one seed" "$seconds" "" "$accuracy" "$(megabytes "$peak")"
