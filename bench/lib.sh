# lib.sh - what the parts of `make bench` share: measuring, recording, tables. To be sourced.
#
# Every measurement is one record, a line of JSON in $records. Times are wall clock, in seconds; peaks of memory
# come from GNU time, and are null where that is not installed.
# shellcheck shell=bash disable=SC2034

trellis=${TRELLIS:?}
records=${RECORDS:?}
work=${WORK:?}
shared=${TRELLIS_SHARED:-../shared/data}
gnu_time=$(command -v /usr/bin/time || true)

# measure COMMAND...: runs it, leaves $seconds and $peak (kilobytes, or null); its output goes to $work/out.
measure() {
    local start=$EPOCHREALTIME
    if [ -n "$gnu_time" ]; then
        "$gnu_time" -o "$work/time" -f %M "$@" >"$work/out" 2>"$work/err" || fail "$@"
        peak=$(tail -n 1 "$work/time")
    else
        "$@" >"$work/out" 2>"$work/err" || fail "$@"
        peak=null
    fi
    seconds=$(calculate "$EPOCHREALTIME - $start")
}

fail() {
    echo "bench: failed: $*" >&2
    tail -n 3 "$work/err" >&2
    exit 1
}

# calculate EXPRESSION: with six digits.
calculate() { awk "BEGIN { printf \"%.6g\", $1 }"; }

# record NAME KEY VALUE...: numbers and null as they are, all else as text.
record() {
    local line="{\"name\": \"$1\"" key value
    shift
    while [ $# -gt 0 ]; do
        key=$1 value=$2
        shift 2
        [[ $value =~ ^(null|-?[0-9.]+(e[-+]?[0-9]+)?)$ ]] || value="\"$value\""
        line+=", \"$key\": $value"
    done
    echo "$line}" >>"$records"
}

# heading TITLE COLUMN...: begins a table.
heading() {
    echo
    echo "### $1"
    echo
    shift
    row "$@"
    row "${@//*/---:}"
}

row() {
    local cell line="|"
    for cell in "$@"; do
        line+=" $cell |"
    done
    echo "$line"
}

# median NUMBER...
median() { printf '%s\n' "$@" | sort -g | awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

# megabytes KILOBYTES: null stays null.
megabytes() { if [ "$1" = null ]; then echo null; else calculate "$1 * 1024 / 1e6"; fi; }

# draw LABELS TOKENS: a generated corpus, made once; its path.
draw() {
    local file="$work/draw-$1-$2.txt"
    [ -f "$file" ] || "$trellis" sample --labels "$1" --vocabulary 20000 -n "$2" --seed 7 >"$file"
    echo "$file"
}

# figure KEY FILE: the last number of that name in a log of iterations.
figure() { sed -n "s/.*\"$1\": \\([-0-9.e+]*\\).*/\\1/p" "$2" | tail -n 1; }
