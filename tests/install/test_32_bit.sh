#!/usr/bin/env bash
# A 32-bit target is refused by the first error of the compiler, which says why; this one is not.
compile() { "${CC:-cc}" "$@" -fsyntax-only -Iinclude -Isrc src/base/memory.c 2>&1; }
echo 'int main(void) { return 0; }' | "${CC:-cc}" -m32 -fsyntax-only -x c - 2>/dev/null || exit 77
compile -m32 | grep -m 1 error: | grep -q 'Trellis needs a 64-bit target' || { echo "-m32 is not refused" && exit 1; }
compile -D_GNU_SOURCE || { echo "this target is refused" && exit 1; }
echo "1 target refused"
