#!/usr/bin/env bash
# Builds every tests/fuzz/fuzz_*.c with both sanitizers, and runs each for FUZZ_SECONDS.
#
#   scripts/fuzz.sh BUILD_DIRECTORY [NAME...]      all fuzzers, or those named (model: fuzz_model)
#
# FUZZ_ENGINE is libfuzzer, which is part of clang, or afl (AFL++). A run begins with tests/fuzz/corpus/<name>.tar.gz, what
# earlier runs of either found, and tests/fuzz/seeds/<name>, inputs with a story; tests/fuzz/dictionaries/<name>.dict has
# the words of the format. At its end what was found is minimised and goes into the archive, unless FUZZ_KEEP=no. An input
# that fails is kept in BUILD_DIRECTORY/failures. Each run prints how many inputs it executed; tests/fuzz/executions.txt has
# the sums of all runs whose finds were kept, which docs/reliability.md shows.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
seconds=${FUZZ_SECONDS:-60}
timeout=${FUZZ_TIMEOUT:-20} # seconds for one input; more where other work may hold a process up
max_bytes=400000 # of an archive before compression

names=("$@")
[ ${#names[@]} -gt 0 ] || names=($(for file in tests/fuzz/fuzz_*.c; do basename "${file#tests/fuzz/fuzz_}" .c; done))
engine=${FUZZ_ENGINE:-libfuzzer}

# build DIRECTORY COMPILER
build() {
    [ -f "$1/Makefile" ] || cmake -S . -B "$1" -G "Unix Makefiles" -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE=Debug \
        -DTRELLIS_FUZZ=ON
    MAKEFLAGS= cmake --build "$1" --parallel "${JOBS:-$(nproc)}" --target build_fuzzers -- --no-print-directory
}
build "$build" clang # it minimises what AFL++ found, too
[ "$engine" != afl ] || AFL_QUIET=1 build "$build/afl" afl-clang-fast

# begin NAME: fills $corpus with the seeds and with what was kept
begin() {
    corpus=$build/corpus/$1
    dictionary=tests/fuzz/dictionaries/$1.dict
    mkdir -p "$corpus" "$build/failures"
    [ ! -d "tests/fuzz/seeds/$1" ] || cp -r tests/fuzz/seeds/"$1"/. "$corpus"
    [ ! -f "tests/fuzz/corpus/$1.tar.gz" ] || tar -xzf "tests/fuzz/corpus/$1.tar.gz" -C "$corpus"
}

# run_libfuzzer NAME OPTIONS...; less quarantine than usual, because large buffers are slow to get anew
run_libfuzzer() {
    [ ! -f "$dictionary" ] || set -- "$@" -dict="$dictionary"
    ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=4 "$build/tests/fuzz/fuzz_$1" -max_total_time="$seconds" \
        -timeout="$timeout" -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="$build/failures/fuzz_$1-" "${@:2}" "$corpus"
}

# run_afl NAME OPTIONS...
run_afl() {
    local out=$build/afl/found/$1 file found=0
    rm -rf "$out" && mkdir -p "${out%/*}"
    [ ! -f "$dictionary" ] || set -- "$@" -x "$dictionary"
    AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_NO_UI=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_IGNORE_PROBLEMS=1 \
        ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:quarantine_size_mb=16 \
        afl-fuzz -V "$seconds" -t "${timeout}000+" -m none -G 16384 -i "$corpus" -o "$out" "${@:2}" -- "$build/afl/tests/fuzz/fuzz_$1" \
        >"$build/afl/$1.log" 2>&1 || { tail -n 20 "$build/afl/$1.log"; return 1; }
    grep -E '^(execs_done|execs_per_sec|corpus_count|saved_crashes|saved_hangs)' "$out/default/fuzzer_stats"
    cp "$out"/default/queue/id* "$corpus"
    for file in "$out"/default/crashes/id*; do
        [ ! -f "$file" ] || { cp "$file" "$build/failures/fuzz_$1-$(sha1sum <"$file" | cut -c 1-40)" && found=1; }
    done
    return $found
}

# keep NAME: the smallest of the inputs that together reach what all of them reach
keep() {
    local small=$build/small/$1
    rm -rf "$small" && mkdir -p "$small"
    "$build/tests/fuzz/fuzz_$1" -merge=1 -max_len=16384 -timeout="$timeout" -rss_limit_mb=2048 -verbosity=0 "$small" "$corpus" \
        >"$build/merge.log" 2>&1 || { tail -n 5 "$build/merge.log"; return 1; }
    (cd "$small" && ls -Sr | xargs -r stat -c '%s %n') |
        awk -v max=$max_bytes '(sum += $1) <= max { print $2 }' | LC_ALL=C sort >"$build/kept"
    tar -C "$small" --mtime=@0 --owner=0 --group=0 --numeric-owner -T "$build/kept" -cf - | gzip -9n \
        >"tests/fuzz/corpus/$1.tar.gz"
    echo "fuzz: $1 keeps $(wc -l <"$build/kept") inputs, $(stat -c %s "tests/fuzz/corpus/$1.tar.gz") bytes"
}

# count NAME: adds what the run executed to the sum of the fuzzer
count() {
    local executed
    executed=$(awk '$1 == "stat::number_of_executed_units:" || $1 == "execs_done" { print $NF }' "$build/run.log")
    awk -v name="$1" -v executed="${executed:-0}" '
        $1 == name { $2 += executed; found = 1 }
        { print }
        END { if (!found) print name, executed }' tests/fuzz/executions.txt >"$build/executions"
    cp "$build/executions" tests/fuzz/executions.txt
}

failed=()
for name in "${names[@]}"; do
    begin "$name"
    echo "fuzz: fuzz_$name for $seconds s ($engine)"
    passed=yes
    run_"$engine" "$name" 2>&1 | tee "$build/run.log" || passed=no
    if [ "${FUZZ_KEEP:-yes}" = yes ]; then count "$name"; fi
    if [ $passed = no ]; then
        failed+=("$name")
    elif [ "${FUZZ_KEEP:-yes}" = yes ]; then
        keep "$name"
    fi
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "fuzz: failed: ${failed[*]}; the inputs are in $build/failures"
    exit 1
fi
echo "fuzz: ${#names[@]} fuzzers, no findings"
