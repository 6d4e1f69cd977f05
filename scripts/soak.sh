#!/usr/bin/env bash
# Long runs: tagging TOKENS (10^8) generated tokens in a stream keeps its memory, training for EPOCHS (1,000)
# epochs neither drifts nor leaks, and valgrind finds nothing in a short one.
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
memory() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status" 2>/dev/null || echo 0; }

"$trellis" sample -n 20000 --labels 10 --vocabulary 2000 >"$dir/train.txt"
"$trellis" train -q -e 3 -f id -m "$dir/model" "$dir/train.txt"

# watch PID: the memory of a process in kB: after its start, and at the most later
watch() {
    local pid=$1 now
    early=0 late=0
    for ((i = 0; ; i++)); do
        now=$(memory "$pid")
        [ -n "$now" ] && [ "$now" -gt 0 ] || break
        if [ "$i" -lt 10 ]; then
            [ "$now" -le "$early" ] || early=$now
        elif [ "$now" -gt "$late" ]; then
            late=$now
        fi
        sleep 0.5
    done
}

mkfifo "$dir/in" "$dir/out"
"$trellis" sample -n "$tokens" --labels 10 --vocabulary 2000 >"$dir/in" &
grep -c . <"$dir/out" >"$dir/count" &
counting=$!
"$trellis" tag -j 1 -m "$dir/model" - <"$dir/in" >"$dir/out" &
pid=$!
watch "$pid"
wait "$pid" || fail "tagging ended with an error"
wait "$counting"
echo "soak: tagged $(cat "$dir/count") tokens; memory $early kB at first, at most $late kB later"
[ "$(cat "$dir/count")" -ge "$tokens" ] || fail "tokens are missing"
[ "$late" -le $((early + early / 10 + 2000)) ] || fail "tagging needs more and more memory"

for way in "-t perceptron" "-t crf -a sgd" "-t perceptron -a arow"; do
    head -n 2000 "$dir/train.txt" >"$dir/small.txt"
    "$trellis" train -q $way -e "$epochs" -f id -j 1 --log "$dir/log" -m "$dir/long" "$dir/small.txt" &
    pid=$!
    watch "$pid"
    wait "$pid" || fail "$way ended with an error"
    echo "soak: $way, $epochs epochs: memory $early kB at first, at most $late kB later"
    [ "$late" -le $((early + early / 10 + 2000)) ] || fail "$way needs more and more memory"
    "$trellis" export "$dir/long" >"$dir/text"
    ! grep -qiE '^(node|step)\s+-?(nan|inf)' "$dir/text" || fail "$way: a weight is no number"
done

if command -v valgrind >/dev/null; then
    head -n 400 "$dir/train.txt" >"$dir/tiny.txt"
    valgrind -q --leak-check=full --error-exitcode=9 "$trellis" train -q -t crf -e 3 -f id -j 2 -m "$dir/v" \
        "$dir/tiny.txt" || fail "valgrind, training"
    valgrind -q --leak-check=full --error-exitcode=9 "$trellis" tag -m "$dir/v" "$dir/tiny.txt" >/dev/null ||
        fail "valgrind, tagging"
    echo "soak: valgrind found nothing in a training and a tagging"
fi
echo "soak: ok"
