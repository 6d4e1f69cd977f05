# lib.sh - shared by the parts of `make bench`: measuring, recording, tables. To be sourced.
#
# Every measurement is one record, a line of JSON in $records. Times are wall clock, in seconds; peak memory
# comes from GNU time and is null if that is not installed. BENCH_QUICK=1 makes everything small, to test the scripts;
# its figures are meaningless.
# shellcheck shell=bash disable=SC2034

trellis=${TRELLIS:?}
records=${RECORDS:?}
work=${WORK:?}
shared=${TRELLIS_SHARED:-../shared/data}
gnu_time=$(command -v /usr/bin/time || true)

# measure COMMAND...: runs it, sets $seconds and $peak (kilobytes, or null); its output goes to $work/out.
measure() {
    rm -f "$work/out" # or the time to free it would be counted
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

# record NAME KEY VALUE...: numbers and null unquoted, everything else as strings.
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

# heading TITLE COLUMN...: starts a table.
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

# generated LABELS TOKENS: the path of a generated corpus, made once.
generated() {
    local file="$work/generated-$1-$2.txt"
    [ -f "$file" ] || "$trellis" sample --labels "$1" --vocabulary 20000 -n "$2" --seed 7 >"$file"
    echo "$file"
}

# cut_corpus NAME: the folder of a corpus of ../shared/data with train.txt and test.txt, empty if there is none; with
# BENCH_QUICK, of the first sentences of both.
cut_corpus() {
    local folder=$shared/$1 part
    [ -f "$folder/train.txt" ] || return 0
    if [ -n "${BENCH_QUICK:-}" ]; then
        mkdir -p "$work/$1"
        for part in train test; do
            awk 'NF == 0 && ++n == 300 { exit } { print }' "$folder/$part.txt" >"$work/$1/$part.txt"
        done
        folder=$work/$1
    fi
    echo "$folder"
}

# seconds_per_pass FILE: the mean seconds of an iteration, without the first, in a training log.
seconds_per_pass() {
    sed -n 's/.*"seconds": \([-0-9.e+]*\).*/\1/p' "$1" |
        awk 'NR == 1 { a = $1 } { b = $1 } END { printf "%.6g", (NR > 1 ? (b - a) / (NR - 1) : b) }'
}

# exponent FILE: fitted to lines "size seconds" by least squares of the logarithms, without the smallest size, whose time
# is mostly start-up.
exponent() {
    tail -n +2 "$1" | awk '$2 > 0 { x = log($1); y = log($2); n++; a += x; b += y; c += x * x; d += x * y }
        END { if (n > 1) printf "%.3f", (n * d - a * b) / (n * c - a * a); else printf "null" }'
}
