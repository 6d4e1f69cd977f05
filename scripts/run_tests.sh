#!/usr/bin/env bash
# Runs the tests of a build directory; the last line is "N passed, N failed, N skipped".
#
#   scripts/run_tests.sh BUILD_DIRECTORY [OPTION OF CTEST...]
#
# SKIP is a pattern of tests to leave out. RESUME=yes goes on where earlier runs of the same build of the library ended:
# the tests that passed then are left out and counted as passed.
#
# Programs and scripts are counted, one each. A case that a cmocka program skips inside itself adds to
# "skipped" and is named above that line.
set -uo pipefail
build=$1
shift
unset MAKEFLAGS MAKELEVEL MFLAGS

# A sanitizer's report must not look like an ordinary failure of the command, which is exit status 1.
export ASAN_OPTIONS=exitcode=86:detect_stack_use_after_return=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=exitcode=86:print_stacktrace=1:${UBSAN_OPTIONS:-}
export LSAN_OPTIONS=exitcode=86:${LSAN_OPTIONS:-}
export TSAN_OPTIONS=exitcode=86:halt_on_error=1:${TSAN_OPTIONS:-}

log=$build/test.log passed=$build/passed
if [ "${RESUME:-}" = yes ] && [ "$log" -nt "$build/libtrellis.a" ]; then
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* Passed .*/\1/p' "$log" >>"$passed"
else
    : >"$passed"
fi
skip=$(printf '%s' "${SKIP:-}"; sed 's/^/|/' "$passed" | tr -d '\n')
skip=${skip#|}
none=$([ -s "$passed" ] && echo ignore || echo error)
(cd "$build" &&
    exec ctest --output-on-failure --no-tests=$none -j "${JOBS:-$(nproc)}" ${skip:+-E "^($skip)\$"} "$@") | tee "$log"
status=$?

cases=$build/Testing/Temporary/LastTest.log
skipped_cases=$(awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
    /^\[  SKIPPED \] / && !/listed below/ { if (!seen[test, $4]++) print "skipped inside " test ": " $4 }' \
    "$cases" 2>/dev/null)
[ -z "$skipped_cases" ] || printf '\n%s\n' "$skipped_cases"

awk -v status=$status -v passed="$(wc -l <"$passed")" -v skipped="$(printf '%s' "$skipped_cases" | grep -c .)" '
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
        if (/ Passed +[0-9.]+ sec/) passed++
        else if (/\*\*\*Skipped|\*\*\*Not Run \(Disabled\)/) skipped++
        else failed++
    }
    END {
        if (status && !failed) failed = 1 # ctest itself broke
        printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0
    }' "$log"
