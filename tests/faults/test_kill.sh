#!/usr/bin/env bash
# kill -9 at random moments, KILLS times (200): during training with checkpoints, during tuning, and while a
# model is saved. After each, the model on disk is the complete old one or the complete new one, and it opens; a
# training resumed from a checkpoint ends with the model of an uninterrupted run; a search resumes with the scores it
# had and ends with the same table; and no temporary files are left.
. tests/cli/lib.sh
kills=${KILLS:-200}
dir=$TRELLIS_TMP
[ ! -w /dev/shm ] || dir=$(mktemp -d /dev/shm/trellis-kill.XXXXXX) # so that syncing does not slow it down
trap 'rm -rf "$dir"' EXIT
head -n 900 data/english/train.conll >"$dir/train.txt"
RANDOM=7

# milliseconds COMMAND...: the shortest of three runs
milliseconds() {
    local begin i
    for i in 1 2 3; do
        begin=${EPOCHREALTIME/./}
        "$@" >/dev/null 2>&1
        echo $(((${EPOCHREALTIME/./} - begin) / 1000 + 1))
    done | sort -n | head -n 1
}

# kill_after MAX COMMAND...: kills it after 0 to MAX milliseconds, unless it has ended
kill_after() {
    local max=$1 pid wait
    shift
    wait=$(((RANDOM * 32768 + RANDOM) % (max + 1)))
    "$@" >/dev/null 2>&1 &
    pid=$!
    sleep "$(printf '%d.%03d' "$((wait / 1000))" "$((wait % 1000))")"
    kill -9 "$pid" 2>/dev/null && killed=$((killed + 1))
    wait "$pid" 2>/dev/null
}

# one_of FILE REFERENCE...: FILE is one of them, to the byte, and opens
one_of() {
    local file=$1 reference
    shift
    "$TRELLIS" info "$file" >/dev/null 2>&1 || complain "$file does not open after kill -9"
    for reference in "$@"; do
        cmp -s "$file" "$reference" && return
    done
    complain "$file is neither the old model nor the new one after kill -9"
}

killed=0
train() { "$TRELLIS" train "$@" -q -j 1 "$dir/train.txt"; }

# Training and saving over an existing model: a series for each learner.
ways=("-t perceptron -f chunk -e 8" "-t perceptron -f chunk -a arow -e 8" "-t crf -f chunk -e 20"
    "-t crf -f chunk -a sgd -e 8" "-t ssvm -f chunk -e 6 --gap 0" "-t hmm -a em --states 9 --restarts 3 -e 20")
share=$((kills / 2 / ${#ways[@]}))
for way in "${ways[@]}"; do
    target=$dir/target.model
    train $way --seed 1 -m "$dir/old.model"
    whole=$(milliseconds train $way --seed 2 -m "$dir/new.model")
    cp "$dir/old.model" "$target"
    rm -f "$dir/checkpoint"
    for ((i = 0; i < share; i++)); do
        kill_after "$whole" "$TRELLIS" train $way -q -j 1 --seed 2 --checkpoint "$dir/checkpoint" \
            --resume -m "$target" "$dir/train.txt"
        one_of "$target" "$dir/old.model" "$dir/new.model"
        ! cmp -s "$target" "$dir/new.model" || { cp "$dir/old.model" "$target"; rm -f "$dir/checkpoint"; }
    done
    train $way --seed 2 --checkpoint "$dir/checkpoint" --resume -m "$target"
    cmp -s "$target" "$dir/new.model" || complain "$way: resumed after $share kills, the model differs"
done

# Tuning: every score that was written stays, an incomplete last line is harmless.
tune=("$TRELLIS" tune -t perceptron -e 2 -f id -k 2 --try "order=0,1" --try "min-count=1,2,3" -q -j 1 "$dir/train.txt")
ranks() { awk '{ $3 = ""; print }'; } # without the seconds
"${tune[@]}" | ranks >"$dir/ranks"
whole=$(milliseconds "${tune[@]}")
had=0
for ((i = 0; i < kills / 5; i++)); do
    kill_after "$whole" "${tune[@]}" -r "$dir/scores"
    lines=$(grep -c '}$' "$dir/scores" 2>/dev/null)
    [ "${lines:-0}" -ge "$had" ] || complain "of $had lines of scores $lines are left after kill -9"
    [ "$(head -n "${lines:-0}" "$dir/scores" 2>/dev/null | grep -cvE '^\{.*\}$')" = 0 ] ||
        complain "a score is broken after kill -9"
    had=${lines:-0}
    if [ "$had" = 7 ] || [ "$i" = $((kills / 5 - 1)) ]; then # all six scores after the task, or the last kill
        "${tune[@]}" -r "$dir/scores" | ranks | cmp -s - "$dir/ranks" || complain "resumed after kill -9, the result differs"
        rm -f "$dir/scores"
        had=0
    fi
done

# Saving: an import does little else.
"$TRELLIS" export "$dir/old.model" >"$dir/old.text"
"$TRELLIS" export "$dir/new.model" >"$dir/new.text"
"$TRELLIS" import -m "$dir/old.model" "$dir/old.text" 2>/dev/null
whole=$(milliseconds "$TRELLIS" import -m "$dir/new.model" "$dir/new.text")
cp "$dir/old.model" "$dir/target.model"
for ((i = 0; killed < kills && i < 10 * kills; i++)); do
    text=$([ $((i % 2)) = 0 ] && echo new || echo old)
    kill_after "$whole" "$TRELLIS" import -m "$dir/target.model" "$dir/$text.text"
    one_of "$dir/target.model" "$dir/old.model" "$dir/new.model"
done
echo "$killed processes killed"
# What a killed process has left is removed by the next one that writes the same file.
for file in target.model checkpoint; do
    "$TRELLIS" import -m "$dir/$file" "$dir/old.text" 2>/dev/null
done
left=$(find "$dir" -name '*.unfinished-*' | wc -l)
[ "$left" = 0 ] || complain "$left temporary files are left"
[ "$killed" -ge "$kills" ] || complain "only $killed processes were killed in time"
finish
