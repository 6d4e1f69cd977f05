#!/usr/bin/env bash
# Trains every learner with `trellis` and with trellis-mpi on several numbers of ranks, and prints a table of the models
# (Markdown): the first 8 digits of their MD5 sums. It fails if two models of a row differ, except in the rows of learners
# that mix the weights of the ranks, where only the model of one rank has to be that of `trellis`.
#
#   bench/mpi_models.sh BUILD [FILE [OPTION...]]     FILE has columns, data/english/train.conll unless given; the options
#                                                    are added to those of each learner
#
# RANKS="1 2 3 4 8" chooses the numbers of ranks.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 file=${2:-data/english/train.conll}
shift "$(($# > 1 ? 2 : 1))"
options=("$@")
numbers=${RANKS:-1 2 3 4 8}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
differ=0

# train COMMAND...: prints the hash of the model that the command trains, with the options of the row.
train() {
    rm -f "$work/model"
    "$@" train -q -j 1 "${row[@]}" ${options[@]+"${options[@]}"} -m "$work/model" "$file" >"$work/out" 2>&1 || {
        cat "$work/out" >&2
        exit 1
    }
    md5sum <"$work/model" | cut -c 1-8
}

# learner NAME same|mixed OPTION...: a row of the table.
learner() {
    local name=$1 kind=$2 n hash alone line
    shift 2
    row=("$@")
    alone=$(train "$build/trellis")
    line="| $name | $alone |"
    for n in $numbers; do
        hash=$(train mpirun -n "$n" "$build/trellis-mpi")
        line+=" $hash |"
        if [ "$hash" != "$alone" ] && { [ "$kind" = same ] || [ "$n" = 1 ]; }; then
            differ=1
            line+=" DIFFERS |"
        fi
    done
    echo "$line"
}

echo "| learner | \`trellis\` | ${numbers// / | } |"
# shellcheck disable=SC2086
echo "|---|---|$(printf -- '---|%.0s' $numbers)"
learner "crf, L-BFGS" same -t crf -f chunk -e 3
learner "crf, L-BFGS, \`--warm-up 0\`" same -t crf -f chunk --warm-up 0 -e 3
learner "crf, L-BFGS, \`--order 2\`" same -t crf -f chunk --order 2 -e 2
learner "crf, L-BFGS, \`--segments\`" same -t crf -f chunk --segments --max-segment 4 -e 2
learner "crf, OWL-QN (\`--l1 0.5\`)" same -t crf -f chunk --l1 0.5 -e 3
learner "crf, conjugate gradients" same -t crf -f chunk -a cg -e 3
learner "crf, gradient descent" same -t crf -f chunk -a gd -e 3
learner "crf, SGD, one sequence a step" same -t crf -f chunk -a sgd -e 1
learner "crf, SGD, \`--batch 16\`" same -t crf -f chunk -a sgd --batch 16 -e 2
learner "memm, L-BFGS" same -t memm -f chunk -e 3
learner "memm, SGD, \`--batch 16\`" same -t memm -f chunk -a sgd --batch 16 -e 2
learner "maxent, L-BFGS" same -t maxent -f chunk -e 3
learner "hmm, counts" same -t hmm
learner "hmm, EM" same -t hmm -a em --states 5 -e 3
learner "hmm, hard EM" same -t hmm -a viterbi --states 5 -e 3
learner "ssvm" same -t ssvm -f chunk -e 2
learner "perceptron (mixed)" mixed -t perceptron -f chunk -e 3
learner "arow (mixed)" mixed -t perceptron -a arow -f chunk -e 3
learner "mira (mixed)" mixed -t mira -f chunk -e 2
exit $differ
