#!/usr/bin/env bash
# What the Python package needs from the Python registry: installs it into a clean environment, runs its tests there with
# the newest numpy and scikit-learn and beside python-crfsuite and sklearn-crfsuite, and checks its types.
#
# The last line is "N passed, N failed, N skipped". Where the registry cannot be reached, all steps are skipped.
set -uo pipefail
cd "$(dirname "$0")/.."

steps=(environment install tests types)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
python=$tmp/venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=$tmp/hypothesis
unset TRELLIS_LIBRARY_BUILD PYTHONPATH

finish() {
    echo "$passed passed, $failed failed, $((${#steps[@]} - passed - failed)) skipped"
    [ "$failed" -eq 0 ]
    exit
}

# step NAME COMMAND...: counts it; a step that fails ends the run.
step() {
    echo "-- $1"
    if "${@:2}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        finish
    fi
}

make_environment() {
    /usr/bin/python3 -m venv "$tmp/venv" &&
        "$python" -m pip install -q numpy scikit-learn pytest hypothesis mypy python-crfsuite sklearn-crfsuite
}

# From a copy, because the build leaves files behind.
install_package() {
    mkdir "$tmp/tree" &&
        cp -r CMakeLists.txt LICENSE cmake include src python "$tmp/tree" &&
        "$python" -m pip install -q "$tmp/tree/python"
}

run_tests() {
    "$python" -m pytest -q -p no:cacheprovider --rootdir python python/tests
}

# The installed package by its name: by its path, mypy takes the folder it lies in for part of the program.
check_types() {
    local config=$PWD/python/pyproject.toml
    (cd / && "$python" -m mypy --strict --config-file "$config" --cache-dir "$tmp/mypy" -p trellis)
}

if ! /usr/bin/python3 -m venv "$tmp/try" >/dev/null 2>&1; then
    echo "skipped: /usr/bin/python3 cannot make virtual environments (Debian: python3-venv)"
    finish
fi
if ! timeout 90 "$tmp/try/bin/python" -m pip download -q --retries 1 --timeout 20 --no-deps -d "$tmp" python-crfsuite \
    >/dev/null 2>&1; then
    echo "skipped: the Python registry cannot be reached"
    finish
fi
step environment make_environment
step install install_package
step tests run_tests
step types check_types
finish
