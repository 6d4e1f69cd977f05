#!/usr/bin/env bash
# Checks the formatting of our C files and runs static analysis; fails on any finding.
#
#   scripts/lint.sh BUILD_DIRECTORY     a configured one, for its compile_commands.json
#   scripts/lint.sh --format            formats the files instead of checking
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}

# our_files NAME_PATTERN... -- FOLDER...: NUL-separated; missing folders are skipped.
our_files() {
    local folder names=()
    while [ "$1" != -- ]; do names+=(-o -name "$1"); shift; done
    shift
    for folder in "$@"; do
        if [ -d "$folder" ]; then find "$folder" -type f \( "${names[@]:1}" \) -print0; fi
    done | sort -z
}
c_files() { our_files '*.[ch]' -- include src cli serve mpi tests examples bench; }

if [ "$1" = --format ]; then
    c_files | xargs -0 -r clang-format -i
    exit
fi
build=$1
failed=()
check() { # NAME COMMAND...: its output is shown only when it fails
    local start=$SECONDS output
    if output=$("${@:2}" 2>&1); then
        printf '%-14s ok (%d s)\n' "$1" $((SECONDS - start))
    else
        printf '%s\n%-14s FAILED\n' "$output" "$1"
        failed+=("$1")
    fi
}

layout() { c_files | xargs -0 -r -n 20 -P "$jobs" clang-format --dry-run -Werror; }

scripts() {
    local file bad=0
    while IFS= read -r -d '' file; do bash -n "$file" || bad=1; done < <(
        our_files '*.sh' -- scripts tests bench
        printf '.ci/run\0'
    )
    return $bad
}

# The compile commands are gcc's or clang's, whichever built last, so unknown warning options are ignored.
tidy() {
    cmake -S . -B "$build" >/dev/null || return 1
    our_files '*.c' -- src cli serve mpi examples |
        xargs -0 -r -n 1 -P "$jobs" clang-tidy --quiet -p "$build" \
            --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error 2>&1 |
        grep -vE '^$|warnings? generated\.$'
    [ "${PIPESTATUS[1]}" -eq 0 ]
}

across_files() {
    local folders=()
    for folder in src cli serve mpi examples; do [ -d "$folder" ] && folders+=("$folder"); done
    cppcheck --quiet --std=c11 --language=c -j "$jobs" --error-exitcode=1 --inline-suppr \
        --enable=warning,portability --max-configs=2 -D__x86_64__ -D__GNUC__=12 -D_GNU_SOURCE -I include -I src \
        --suppress=missingIncludeSystem --suppress=invalidPointerCast --suppress=unmatchedSuppression --suppress=normalCheckLevelMaxBranches \
        "${folders[@]}"
}

check clang-format layout
check bash scripts
check clang-tidy tidy
check cppcheck across_files
if [ ${#failed[@]} -gt 0 ]; then
    echo "lint: failed: ${failed[*]} (make format mends the layout)"
    exit 1
fi
echo "lint: no findings"
