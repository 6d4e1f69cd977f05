#!/usr/bin/env bash
# For each kernel a variant that is wrong on purpose, which the tests must notice. The variant leaves out the last
# vector or element of what it works on: the mistake that is easily made and hardly seen. Kernels are found in
# their files, so new ones are tried without being listed here.
#
#   scripts/mutants.sh BUILD_DIRECTORY      built with tests; prints a line for each, fails where one survives
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1
cc=${CC:-cc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
flags=(-std=c11 -O1 -D_GNU_SOURCE -fno-math-errno -fno-trapping-math -ffp-contract=off -w)
libraries=($(pkg-config --libs cmocka libutf8proc libpcre2-8 zlib libzstd jansson) -lm -lpthread)
survivors=0 tried=0

# mutate FILE FUNCTION: the file with the function's last parameter that says how many made smaller
mutate() {
    awk -v name="$2" '
        $0 ~ "^static .*[ *]" name "\\(" { inside = 1; text = "" }
        inside { text = text $0 }
        { print }
        inside && /^{/ {
            if (match(text, /size_t (width|count|rows|n)[,)]/)) {
                what = substr(text, RSTART + 7, RLENGTH - 8)
                least = what == "width" ? "LANES" : "1"
                printf "    %s -= %s > %s ? %s : 0;\n", what, what, least, least
            }
            inside = 0
        }' "$1"
}

# try NAME TEST FOLDER BODY SOURCE...: compiles the mutated body into the test; it must fail
try() {
    local name=$1 test=$2 folder=$3 body=$4
    shift 4
    mkdir -p "$dir/src/$folder"
    cp src/"$folder"/*.[ch] "$dir/src/$folder/"
    if [ -n "$name" ]; then
        mutate "src/$folder/$body" "$name" >"$dir/src/$folder/$body"
        cmp -s "src/$folder/$body" "$dir/src/$folder/$body" && return # it has no number to make smaller
    fi
    local objects=() source arch
    for source in "$@"; do
        arch=()
        case $source in
        *_avx2.c) arch=(-mavx2 -mfma) ;;
        *_avx512.c) arch=(-mavx512f -mavx512bw -mavx512vl -mfma) ;;
        esac
        "$cc" "${flags[@]}" "${arch[@]}" -I"$dir/src" -Isrc -Iinclude -c "$dir/src/$folder/$source" \
            -o "$dir/${source%.c}.o" || { echo "mutants: $source does not compile"; exit 1; }
        objects+=("$dir/${source%.c}.o")
    done
    "$cc" "${flags[@]}" -I"$dir/src" -Isrc -Iinclude -Itests "$test" tests/support/*.c "${objects[@]}" \
        "$build/libtrellis.a" "${libraries[@]}" -o "$dir/test" || { echo "mutants: no test"; exit 1; }
    local verdict=noticed
    if TRELLIS_TMP=$dir "$dir/test" >"$dir/log" 2>&1; then verdict=survived; fi
    if [ -z "$name" ]; then
        [ "$verdict" = survived ] || { cat "$dir/log"; echo "mutants: the test fails as it is"; exit 1; }
        return
    fi
    tried=$((tried + 1))
    [ "$verdict" = noticed ] || survivors=$((survivors + 1))
    printf '%-20s %-28s %s\n' "$name" "$(basename "$test")" "$verdict"
}

sources=(kernels_baseline.c)
rows=(row_kernels_baseline.c)
if [ "$(uname -m)" = x86_64 ]; then
    sources+=(kernels_avx2.c kernels_avx512.c)
    rows+=(row_kernels_avx2.c row_kernels_avx512.c)
fi
names() { grep -oE '^static [a-z_0-9]+ \*?[a-z_0-9]+\(' "$1" | sed 's/.*[ *]\([a-z_0-9]*\)($/\1/'; }

try "" tests/base/test_kernels.c base kernels_body.h "${sources[@]}"
for name in $(names src/base/kernels_body.h); do
    try "$name" tests/base/test_kernels.c base kernels_body.h "${sources[@]}"
done
rm -rf "$dir/src/base"
for name in $(names src/dataset/row_kernels_body.h); do
    try "$name" tests/dataset/test_rows.c dataset row_kernels_body.h "${rows[@]}"
done
echo "mutants: $tried kernels with a mistake, $((tried - survivors)) noticed, $survivors survived"
[ "$survivors" -eq 0 ] && [ "$tried" -ge 15 ]
