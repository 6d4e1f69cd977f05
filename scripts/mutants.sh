#!/usr/bin/env bash
# Mutation testing of the kernels: the tests must detect every mutant. A mutant skips the last vector or element, an
# error that is easily made and hard to see. Kernels and loops are found in their files, so that new ones need not be
# listed here.
#
#   scripts/mutants.sh BUILD_DIRECTORY      built with tests; prints a line for each, fails if one survives
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1
cc=${CC:-cc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
flags=(-std=c11 -O1 -D_GNU_SOURCE -fno-math-errno -fno-trapping-math -ffp-contract=off -w)
libraries=($(pkg-config --libs cmocka libutf8proc libpcre2-8 zlib libzstd jansson) -lunistring -lm -lpthread)
survivors=0 tried=0
die() {
    echo "mutants: $1"
    exit 1
}

# shorten FILE FUNCTION: the file with the function's last count parameter reduced
shorten() {
    awk -v name="$2" '
        $0 ~ "^static .*[ *]" name "\\(" { inside = 1; text = "" }
        inside { text = text $0 }
        { print }
        inside && /^{/ {
            if (match(text, /size_t (width|count|rows|blocks|n)[,)]/)) {
                what = substr(text, RSTART + 7, RLENGTH - 8)
                least = what == "width" ? "LANES" : "1"
                printf "    %s -= %s > %s ? %s : 0;\n", what, what, least, least
            }
            inside = 0
        }' "$1"
}

# loops FILE: "LINE FUNCTION" for each loop that computes something, not for those that prefetch
loops() {
    awk '/^(static|INLINE) / { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
        /^ +for \(.*; [a-z]+ < .*\{$/ && name !~ /^fetch_/ { print NR, name }' "$1"
}

# cut_loop FILE LINE: the file without the last iteration of the loop
cut_loop() {
    sed -E "$2{/\\+= LANES/s/; ([a-z]+) < /; \\1 + LANES < /;/\\+= LANES/!s/; ([a-z]+) < /; \\1 + 1 < /}" "$1"
}

# prepare TEST FOLDER BODY SOURCE...: sets up the next mutants; the unchanged test must pass
prepare() {
    test=$1 folder=$2 body=$3
    shift 3
    sources=("$@")
    rm -rf "$dir/src"
    mkdir -p "$dir/src/$folder"
    cp src/"$folder"/*.[ch] "$dir/src/$folder/"
    "$cc" "${flags[@]}" -Isrc -Iinclude -Itests -c "$test" -o "$dir/test.o" || die "$test does not compile"
    link
    passes || { cat "$dir/log"; die "$test fails as it is"; }
}

# Compiles the body for each instruction set, into the test.
link() {
    local objects=() source arch
    for source in "${sources[@]}"; do
        arch=()
        case $source in
        *_avx2.c) arch=(-mavx2 -mfma) ;;
        *_avx512.c) arch=(-mavx512f -mavx512bw -mavx512vl -mfma) ;;
        esac
        "$cc" "${flags[@]}" "${arch[@]}" -I"$dir/src" -Isrc -Iinclude -c "$dir/src/$folder/$source" \
            -o "$dir/${source%.c}.o" || die "$source does not compile"
        objects+=("$dir/${source%.c}.o")
    done
    "$cc" "${flags[@]}" -Isrc -Iinclude -Itests "$dir/test.o" tests/support/*.c "${objects[@]}" \
        "$build/libtrellis.a" "${libraries[@]}" -o "$dir/test" || die "$test does not link"
}

passes() { TRELLIS_TMP=$dir timeout 60 "$dir/test" >"$dir/log" 2>&1; }

# try NAME COMMAND...: with the output of the command as the body, the test must fail
try() {
    local name=$1 verdict=noticed
    shift
    "$@" >"$dir/src/$folder/$body"
    cmp -s "src/$folder/$body" "$dir/src/$folder/$body" && return # it has no count to reduce
    link
    ! passes || verdict=survived
    tried=$((tried + 1))
    [ "$verdict" = noticed ] || survivors=$((survivors + 1))
    printf '%-30s %-24s %s\n' "$name" "${test##*/}" "$verdict"
}

[ "$(uname -m)" != x86_64 ] || x86=yes
names() { grep -oE '^static [a-z_0-9]+ \*?[a-z_0-9]+\(' "$1" | sed 's/.*[ *]\([a-z_0-9]*\)($/\1/'; }

prepare tests/base/test_kernels.c base kernels_body.h kernels_baseline.c ${x86:+kernels_avx2.c kernels_avx512.c}
for name in $(names src/base/kernels_body.h); do
    try "$name" shorten src/base/kernels_body.h "$name"
done
rows=src/dataset/row_kernels_body.h
prepare tests/dataset/test_rows.c dataset row_kernels_body.h row_kernels_baseline.c \
    ${x86:+row_kernels_avx2.c row_kernels_avx512.c}
while read -r line name; do
    try "$name, line $line" cut_loop "$rows" "$line"
done < <(loops "$rows")
echo "mutants: $tried kernels with an error, $((tried - survivors)) detected, $survivors survived"
[ "$survivors" -eq 0 ] && [ "$tried" -ge 30 ]
