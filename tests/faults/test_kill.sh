#!/usr/bin/env bash
# kill -9 at random moments, KILLS times (200): while a model is trained with checkpoints, and while one is saved.
# After each, the model on disk is the complete old one or the complete new one, and it opens; what is gone on
# with from a checkpoint ends with the model of a run that nobody killed.
. tests/cli/lib.sh
kills=${KILLS:-200}
dir=$TRELLIS_TMP
[ ! -w /dev/shm ] || dir=$(mktemp -d /dev/shm/trellis-kill.XXXXXX) # so that syncing does not slow it down
trap 'rm -rf "$dir"' EXIT
head -n 900 data/english/train.conll >"$dir/train.txt"
RANDOM=7

# milliseconds COMMAND...: how long it takes
milliseconds() {
    local begin=${EPOCHREALTIME/./}
    "$@" >/dev/null 2>&1
    echo $(((${EPOCHREALTIME/./} - begin) / 1000 + 1))
}

# kill_after MOST COMMAND...: kills it after 0 to MOST milliseconds, unless it has ended
kill_after() {
    local most=$1 pid wait
    shift
    wait=$(((RANDOM * 32768 + RANDOM) % (most + 1)))
    "$@" >/dev/null 2>&1 &
    pid=$!
    sleep "$(printf '0.%03d' "$((wait % 1000))")"
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

# Training and saving over a model that is there: a series for each learner.
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
    cmp -s "$target" "$dir/new.model" || complain "$way: gone on with after $share kills, another model"
done

# Saving: little else happens while a model is imported.
"$TRELLIS" export "$dir/old.model" >"$dir/old.text"
"$TRELLIS" export "$dir/new.model" >"$dir/new.text"
"$TRELLIS" import -m "$dir/old.model" "$dir/old.text" 2>/dev/null
whole=$(milliseconds "$TRELLIS" import -m "$dir/new.model" "$dir/new.text")
cp "$dir/old.model" "$dir/target.model"
for ((i = 0; killed < kills && i < 4 * kills; i++)); do
    text=$([ $((i % 2)) = 0 ] && echo new || echo old)
    kill_after "$whole" "$TRELLIS" import -m "$dir/target.model" "$dir/$text.text"
    one_of "$dir/target.model" "$dir/old.model" "$dir/new.model"
done
echo "$killed processes killed"
[ "$killed" -ge "$((kills * 3 / 4))" ] || complain "only $killed processes were killed in time"
finish
