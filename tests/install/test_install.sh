#!/usr/bin/env bash
# Installs into an empty prefix and uses the result through pkg-config, shared and static, and through CMake. Then
# checks the libraries: only trellis_* is exported, nothing prints, exits the process or has writable data.
set -euo pipefail
prefix=$TRELLIS_TMP/prefix
here=$PWD/tests/install
cc=${CC:-cc}

fail() {
    echo "FAILED: $1"
    exit 1
}
expect() { # FILE...: installed
    local file
    for file in "$@"; do [ -e "$prefix/$file" ] || fail "$file was not installed"; done
}

env -u DESTDIR cmake --install "$TRELLIS_BUILD" --prefix "$prefix" >/dev/null
lib=$(dirname "$(cd "$prefix" && find lib* -name libtrellis.a)")
expect include/trellis.h "$lib/libtrellis.a" "$lib/libtrellis.so" "$lib/libtrellis.so.0.2" \
    "$lib/pkgconfig/trellis.pc" "$lib/cmake/trellis/trellisConfig.cmake"
[ ! -x "$TRELLIS" ] || expect bin/trellis
for page in docs/man/*.1; do [ ! -e "$page" ] || expect "share/man/man1/${page##*/}"; done
[ "$(find "$prefix/include" -type f | wc -l)" -eq 1 ] || fail "more than one header was installed"

export PKG_CONFIG_PATH=$prefix/$lib/pkgconfig
strict=(-std=c11 -Wall -Wextra -Wpedantic -Werror)

echo "pkg-config, shared"
"$cc" "${strict[@]}" "$here/consumer.c" -o "$TRELLIS_TMP/shared" $(pkg-config --cflags --libs trellis)
LD_LIBRARY_PATH=$prefix/$lib "$TRELLIS_TMP/shared"

echo "pkg-config, static"
flags=$(pkg-config --static --cflags --libs trellis)
"$cc" "${strict[@]}" "$here/consumer.c" -o "$TRELLIS_TMP/static" \
    ${flags/-ltrellis/-Wl,-Bstatic -ltrellis -Wl,-Bdynamic}
"$TRELLIS_TMP/static"

echo "CMake"
cmake -S "$here" -B "$TRELLIS_TMP/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$TRELLIS_TMP/cmake" >/dev/null
"$TRELLIS_TMP/cmake/consumer"

echo "C++ can read the header"
if command -v c++ >/dev/null; then
    echo '#include <trellis.h>' | c++ -x c++ -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" -
fi

echo "symbols"
so=$prefix/$lib/libtrellis.so
objdump -p "$so" | grep -q 'SONAME *libtrellis\.so\.0\.2$' || fail "the SONAME is not libtrellis.so.0.2"
exported=$(nm -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }')
[ -n "$exported" ] || fail "libtrellis.so exports nothing"
strange=$(grep -v '^trellis_' <<<"$exported" || true)
[ -z "$strange" ] || fail "libtrellis.so exports $strange"
declared=$(sed -n 's/^TRELLIS_API.*[ *]\(trellis_[a-z0-9_]*\)(.*/\1/p' include/trellis.h)
for name in $declared; do
    grep -qx "$name" <<<"$exported" || fail "trellis.h declares $name, libtrellis.so does not export it"
done

# printf and friends become __printf_chk under _FORTIFY_SOURCE; fprintf to a file of the caller is ok.
archive=$prefix/$lib/libtrellis.a
forbidden='exit|_exit|_Exit|quick_exit|abort|__assert_fail|(__)?v?printf(_chk)?|puts|putchar|perror|stdout|stderr|rand|srand|random|srandom|drand48|setlocale|strtok'
used=$(nm -A --undefined-only "$archive" | awk '{ print $NF " in " $1 }' | grep -E "^($forbidden) in " || true)
[ -z "$used" ] || fail "the library uses what a library must not: $used"

# Constant tables of pointers are in .data.rel.ro; gcov and the like are not in this build.
writable=$(nm -A --format=sysv --defined-only "$archive" |
    awk -F'|' '{ section = $7; gsub(/ /, "", section) }
        section ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*|COMMON)/ && section !~ /^\.data\.rel\.ro/ {
            gsub(/ /, "", $1); print $1 " in " section }')
[ -z "$writable" ] || fail "the library keeps writable data: $writable"
echo "ok"
