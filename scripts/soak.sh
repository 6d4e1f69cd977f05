#!/usr/bin/env bash
# Long runs: tagging TOKENS (10^8) generated tokens in a stream uses constant memory, training for EPOCHS
# (1,000) epochs neither drifts nor leaks, and valgrind finds no errors in short runs. Prints the measurements.
#
#   scripts/soak.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
trellis=$1/trellis
tokens=${TOKENS:-100000000} epochs=${EPOCHS:-1000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "soak: FAILED: $1"
    exit 1
}

# watch PID: the memory of a process in kB every tenth of a second, until it ends, in $dir/memory
watch() {
    : >"$dir/memory"
    while awk '/^VmRSS/ { print $2; found = 1 } END { exit !found }' "/proc/$1/status" 2>/dev/null; do
        sleep 0.1
    done >>"$dir/memory"
}

# steady WHAT: the memory does not grow after the first fifth of the samples
steady() {
    local samples early late
    samples=$(wc -l <"$dir/memory")
    early=$(head -n $((samples / 5 + 1)) "$dir/memory" | sort -n | tail -n 1)
    late=$(tail -n +$((samples / 5 + 2)) "$dir/memory" | sort -n | tail -n 1)
    echo "soak: $1: memory $early kB in the first fifth, at most ${late:-?} kB later ($samples looks at it)"
    [ "$samples" -ge 20 ] || fail "$1 was over too soon to be watched"
    [ "$late" -le $((early + early / 50 + 256)) ] || fail "$1 needs more and more memory"
}

"$trellis" sample -n 20000 --labels 10 --vocabulary 2000 >"$dir/train.txt"
"$trellis" train -q -e 3 -f id -m "$dir/model" "$dir/train.txt"

mkfifo "$dir/in" "$dir/out"
begin=$SECONDS
"$trellis" sample -n "$tokens" --labels 10 --vocabulary 2000 >"$dir/in" &
grep -c . <"$dir/out" >"$dir/count" &
counting=$!
"$trellis" tag -j 1 -m "$dir/model" - <"$dir/in" >"$dir/out" &
pid=$!
watch "$pid"
wait "$pid" || fail "tagging ended with an error"
wait "$counting"
[ "$(cat "$dir/count")" -ge "$tokens" ] || fail "tokens are missing"
steady "tagged $(cat "$dir/count") tokens in $((SECONDS - begin)) s"

# drifts LOG: whether the error rate or the objective is worse in the last tenth of the epochs than in the fifth
drifts() {
    awk -v epochs="$epochs" '
        match($0, /"objective": [-0-9.e+]+/) || match($0, /"error_rate": [-0-9.e+]+/) {
            figure = substr($0, RSTART, RLENGTH); sub(/.*: /, "", figure)
            tenth = int((NR - 1) * 10 / epochs); sum[tenth] += figure; count[tenth]++
        }
        END {
            if (NR != epochs || !count[4] || !count[9]) { print "no figures"; exit }
            middle = sum[4] / count[4]; last = sum[9] / count[9]
            if (!(last <= middle + 0.01 * middle + 1e-4)) print middle " became " last
        }' "$1"
}

for way in "-t perceptron" "-t crf -a sgd --delta 0" "-t perceptron -a arow" "-t mira"; do
    "$trellis" train -q $way -e "$epochs" -f id -j 1 --log "$dir/log" -m "$dir/long" "$dir/train.txt" &
    pid=$!
    watch "$pid"
    wait "$pid" || fail "$way ended with an error"
    steady "$epochs epochs of $way"
    worse=$(drifts "$dir/log")
    [ -z "$worse" ] || fail "$way drifts: $worse"
    "$trellis" export "$dir/long" >"$dir/text"
    ! grep -qiE '^(node|step)\s+-?(nan|inf)' "$dir/text" || fail "$way: a weight is no number"
done

command -v valgrind >/dev/null || fail "valgrind is not here"
head -n 400 "$dir/train.txt" >"$dir/tiny.txt"
check() { valgrind -q --leak-check=full --error-exitcode=9 "$trellis" "$@"; }
for way in "-t crf -e 3" "-t crf -a sgd -e 20" "-t perceptron -e 20"; do
    check train -q $way -f id -j 2 -m "$dir/v" "$dir/tiny.txt" || fail "valgrind, training $way"
done
check tag -m "$dir/v" "$dir/tiny.txt" >/dev/null || fail "valgrind, tagging"
echo "soak: valgrind found nothing in three trainings and a tagging"
echo "soak: ok"
