#!/usr/bin/env bash
# The ABI: the functions that libtrellis.so exports, and the sizes and enum numbers in trellis.h, against
# tests/install/abi.txt. While the major version is 0 they may change; UPDATE=1 accepts a change, which then shows in
# the diff. Also checks the hardening of the binaries.
set -euo pipefail
so=$TRELLIS_BUILD/libtrellis.so
list=tests/install/abi.txt
fail() {
    echo "FAILED: $1"
    exit 1
}

"${CC:-cc}" -std=c11 -Iinclude tests/install/abi.c -o "$TRELLIS_TMP/abi"
{
    nm -D --defined-only "$so" | awk '$2 == "T" { sub(/@.*/, "", $3); print "function " $3 }' | LC_ALL=C sort
    "$TRELLIS_TMP/abi"
} >"$TRELLIS_TMP/abi.txt"
[ "$(uname -m)" = x86_64 ] || exit 77
[ "${UPDATE:-}" != 1 ] || cp "$TRELLIS_TMP/abi.txt" $list
# New entries are compatible; what was there must stay.
missing=$(LC_ALL=C comm -23 <(LC_ALL=C sort $list) <(LC_ALL=C sort "$TRELLIS_TMP/abi.txt"))
[ -z "$missing" ] || fail "gone or changed since the last release (UPDATE=1 accepts it): $missing"

# Hardening: addresses resolved at start and then read-only, no executable stack, no fixed addresses.
for file in "$so" "$TRELLIS"; do
    header=$(readelf -hldW "$file")
    symbols=$(nm -D "$file")
    grep -q GNU_RELRO <<<"$header" || fail "$file has no RELRO"
    grep -qE 'BIND_NOW|Flags:.* NOW' <<<"$header" || fail "$file binds lazily"
    ! grep -qE 'GNU_STACK.*RWE' <<<"$header" || fail "$file has an executable stack"
    grep -qE 'Type: +DYN' <<<"$header" || fail "$file is not position-independent"
    grep -q '__stack_chk_fail' <<<"$symbols" || fail "$file has no stack protector"
    grep -q '_chk@' <<<"$symbols" || fail "$file was built without _FORTIFY_SOURCE"
done
echo "ok"
