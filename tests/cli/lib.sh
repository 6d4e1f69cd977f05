# lib.sh - shared by the tests of the command; each test sources it first and ends with `finish`.
#
#   check NAME STATUS ARGUMENT...   runs trellis; expects that exit status, and standard output and error as in
#                                   golden/NAME.out and golden/NAME.err (no file: no output)
#   run STATUS ARGUMENT...          the same without golden files; $out and $err hold what was written
#   want DESCRIPTION COMMAND...     expects a command to succeed
#
# Standard input is the file $input, /dev/null unless set. Paths within $TRELLIS_TMP are shown as TMP.
# UPDATE=1 rewrites the golden files instead of comparing.
set -u
golden=tests/cli/golden
input=/dev/null
failures=0 cases=0
out=$TRELLIS_TMP/out
err=$TRELLIS_TMP/err

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

run() {
    local wanted=$1 status
    shift
    cases=$((cases + 1))
    "$TRELLIS" "$@" <"$input" >"$out" 2>"$err"
    status=$?
    if [ "$status" -ne "$wanted" ]; then
        complain "trellis $*: exit status $status instead of $wanted"
        cat "$err"
    fi
    sed -i "s|$TRELLIS_TMP|TMP|g" "$err"
    [ "$status" -eq "$wanted" ]
}

# compare FILE GOLDEN_FILE
compare() {
    if [ "${UPDATE:-}" = 1 ]; then
        if [ -s "$1" ]; then cp "$1" "$2"; else rm -f "$2"; fi
    elif [ -e "$2" ]; then
        diff -u "$2" "$1" || complain "$2"
    elif [ -s "$1" ]; then
        cat "$1"
        complain "$2: there should be no output"
    fi
}

check() {
    local name=$1
    shift
    run "$@" || return
    compare "$out" "$golden/$name.out"
    compare "$err" "$golden/$name.err"
}

want() {
    local description=$1
    shift
    cases=$((cases + 1))
    "$@" >/dev/null 2>&1 || complain "$description"
}

# columns FILE WORD...: a file with one token per line, from words such as the/DT/B-NP; "|" ends a sequence
columns() {
    local file=$1
    shift
    for token in "$@"; do
        if [ "$token" = "|" ]; then echo; else echo "${token//\// }"; fi
    done >"$file"
}

finish() {
    [ "$cases" -eq 0 ] || echo "$cases cases"
    if [ "$failures" -gt 0 ]; then
        echo "$failures failed"
        exit 1
    fi
    exit 0
}
