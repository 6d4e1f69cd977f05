#!/usr/bin/env bash
# Every function of trellis.h that returns a status is tested with the failing allocator.
set -euo pipefail
functions=$(tr '\n' ' ' <include/trellis.h | grep -oE 'TRELLIS_API trellis_status +trellis_[a-z_0-9]+\(' |
    grep -oE 'trellis_[a-z_0-9]+\(')
[ "$(wc -l <<<"$functions")" -gt 20 ] || {
    echo "FAILED: trellis.h was not understood"
    exit 1
}
missing=0
for name in $functions; do
    grep -qF "$name" tests/faults/allocator.h tests/faults/test_allocator_*.c || {
        echo "FAILED: ${name%(} is not in tests/faults/test_allocator_*.c"
        missing=1
    }
done
exit $missing
