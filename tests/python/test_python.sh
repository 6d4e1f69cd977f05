#!/usr/bin/env bash
# The Python package: builds the extension with the library of this build, and runs its tests and doctests.
set -euo pipefail
python=/usr/bin/python3
skip() {
    echo "skipped: $1"
    exit 77
}
[ -z "$TRELLIS_SANITIZE" ] || skip "the interpreter is not built with sanitizers"
grep -q '^TRELLIS_COVERAGE:BOOL=ON' "$TRELLIS_BUILD/CMakeCache.txt" && skip "the interpreter is not built with gcov"
"$python" -c 'import setuptools, pytest, sysconfig, os
assert os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    skip "$python has no headers, setuptools or pytest (Debian: python3-dev python3-setuptools python3-pytest)"

export PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=$TRELLIS_TMP/hypothesis
export TRELLIS_LIBRARY_BUILD=$TRELLIS_BUILD
(cd python && "$python" -W ignore setup.py -q build --build-base "$TRELLIS_TMP/build" --build-lib "$TRELLIS_TMP/lib")
PYTHONPATH=$TRELLIS_TMP/lib "$python" -m pytest -q -p no:cacheprovider --rootdir python \
    --doctest-modules --doctest-ignore-import-errors python/tests "$TRELLIS_TMP/lib/trellis" \
    --doctest-glob='*.md' python/README.md docs/guide/from-sklearn-crfsuite.md
