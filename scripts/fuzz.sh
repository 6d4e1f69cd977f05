#!/usr/bin/env bash
# Builds every tests/fuzz/fuzz_*.c with clang's libFuzzer and both sanitizers, and runs each for FUZZ_SECONDS.
#
#   scripts/fuzz.sh BUILD_DIRECTORY
#
# New inputs are kept in BUILD_DIRECTORY/corpus/<name>; tests/fuzz/seeds/<name>, if it exists, has the initial ones. An
# input that fails is kept in BUILD_DIRECTORY/failures.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1

shopt -s nullglob
fuzzers=(tests/fuzz/fuzz_*.c)
if [ ${#fuzzers[@]} -eq 0 ]; then
    echo "fuzz: there is no tests/fuzz/fuzz_*.c yet, so nothing to run"
    exit 0
fi
[ -f "$build/Makefile" ] || cmake -S . -B "$build" -G "Unix Makefiles" -DCMAKE_C_COMPILER=clang \
    -DCMAKE_BUILD_TYPE=Debug -DTRELLIS_FUZZ=ON
MAKEFLAGS= cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target build_fuzzers -- --no-print-directory

failed=()
for file in "${fuzzers[@]}"; do
    name=$(basename "$file" .c)
    corpus=$build/corpus/${name#fuzz_}
    seeds=(tests/fuzz/seeds/"${name#fuzz_}"/)
    [ -d "${seeds[0]}" ] || seeds=()
    mkdir -p "$corpus" "$build/failures"
    echo "fuzz: $name for ${FUZZ_SECONDS:-60} s"
    "$build/tests/fuzz/$name" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/failures/$name-" \
        "$corpus" "${seeds[@]}" || failed+=("$name")
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "fuzz: failed: ${failed[*]}; the inputs are in $build/failures"
    exit 1
fi
echo "fuzz: ${#fuzzers[@]} fuzzers, no findings"
