#!/usr/bin/env bash
# The ABI: the functions that libtrellis.so exports and their types, the places of all members of structs and the numbers
# of enums in trellis.h, against tests/install/abi.txt; docs/abi.md has the rules. While the major version is 0 they may
# change; UPDATE=1 accepts a change, which then shows in the diff. Also checks the hardening of the binaries.
set -euo pipefail
so=$TRELLIS_BUILD/libtrellis.so
list=tests/install/abi.txt
fail() {
    echo "FAILED: $1"
    exit 1
}

awk -f tests/install/abi.awk include/trellis.h >"$TRELLIS_TMP/abi.c" || fail "trellis.h breaks a rule"
"${CC:-cc}" -std=c11 -Iinclude "$TRELLIS_TMP/abi.c" -o "$TRELLIS_TMP/abi"
"$TRELLIS_TMP/abi" | LC_ALL=C sort >"$TRELLIS_TMP/abi.txt"

# What is exported is what the header declares.
nm -D --defined-only "$so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort >"$TRELLIS_TMP/exported"
sed -nE 's/^function [^(]*[ *](trellis_[a-z_0-9]+)\(.*/\1/p' "$TRELLIS_TMP/abi.txt" | LC_ALL=C sort >"$TRELLIS_TMP/declared"
diff "$TRELLIS_TMP/declared" "$TRELLIS_TMP/exported" || fail "declared (<) and exported (>) functions differ"
for tag in function fixed grows member value; do
    grep -q "^$tag " "$TRELLIS_TMP/abi.txt" || fail "no line of the kind '$tag'"
done

[ "$(uname -m)" = x86_64 ] || exit 77
[ "${UPDATE:-}" != 1 ] || cp "$TRELLIS_TMP/abi.txt" $list
# New entries are compatible; what was there must stay, but structs may grow.
changed() {
    LC_ALL=C comm -23 <(grep -v '^grows ' "$1" | LC_ALL=C sort) <(grep -v '^grows ' "$2" | LC_ALL=C sort)
    LC_ALL=C join -a 1 -e 0 -o 0,1.2,2.2 <(sed -n 's/^grows //p' "$1" | LC_ALL=C sort) \
        <(sed -n 's/^grows //p' "$2" | LC_ALL=C sort) |
        awk '$3 < $2 { print "grows " $1 " " $2 }'
    awk 'NR == FNR && $1 == "grows" { size[$2] = $3 }
         NR == FNR { old[$2] = 1; next }
         $1 == "member" && !old[$2] { split($2, type, "."); if ($3 < size[type[1]]) print "within the old struct: " $0 }' \
        "$1" "$2"
}
missing=$(changed $list "$TRELLIS_TMP/abi.txt")
[ -z "$missing" ] || fail "gone or changed since the last release (UPDATE=1 accepts it): $missing"

# The check itself: a struct may grow but not shrink, nothing may move, and padding is not used for new members, since
# what callers have in it is not known.
sed -E 's/^(grows trellis_scores) .*/\1 9999/' "$TRELLIS_TMP/abi.txt" >"$TRELLIS_TMP/grown.txt"
[ -z "$(changed "$TRELLIS_TMP/abi.txt" "$TRELLIS_TMP/grown.txt")" ] || fail "a struct that grew is refused"
[ -n "$(changed "$TRELLIS_TMP/grown.txt" "$TRELLIS_TMP/abi.txt")" ] || fail "a struct that shrank is accepted"
for change in 's/^(fixed trellis_text) .*/\1 24/' 's/^(member trellis_row.gold) 24/\1 32/' \
    's/^(value TRELLIS_F1) 4/\1 5/' 's/^(member trellis_row.f1) .*/&\nmember trellis_row.more 76 4/' \
    '/^grows trellis_row /d' 's/^(function void trellis_suggest\()/\1int, /'; do
    sed -E "$change" "$TRELLIS_TMP/abi.txt" >"$TRELLIS_TMP/broken.txt"
    [ -n "$(changed "$TRELLIS_TMP/abi.txt" "$TRELLIS_TMP/broken.txt")" ] || fail "not noticed: $change"
done

# Hardening: addresses resolved at start and then read-only, no executable stack, no fixed addresses.
for file in "$so" "$TRELLIS"; do
    header=$(readelf -hldW "$file")
    symbols=$(nm -D "$file")
    grep -q GNU_RELRO <<<"$header" || fail "$file has no RELRO"
    grep -qE 'BIND_NOW|Flags:.* NOW' <<<"$header" || fail "$file binds lazily"
    ! grep -qE 'GNU_STACK.*RWE' <<<"$header" || fail "$file has an executable stack"
    grep -qE 'Type: +DYN' <<<"$header" || fail "$file is not position-independent"
    grep -q '__stack_chk_fail' <<<"$symbols" || fail "$file has no stack protector"
    grep -q '_chk@' <<<"$symbols" || ! grep -qx 'CMAKE_BUILD_TYPE:STRING=Release' "$TRELLIS_BUILD/CMakeCache.txt" ||
        fail "$file was built without _FORTIFY_SOURCE"
done
echo "ok"
