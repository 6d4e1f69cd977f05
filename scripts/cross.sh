#!/usr/bin/env bash
# Builds the library, the command and the unit tests for another architecture and runs the tests there.
#
#   scripts/cross.sh ARCHITECTURE DIRECTORY [CTEST OPTION...]
#       s390x   big-endian, by qemu-user
#
# The libraries of the architecture are Debian packages, unpacked into DIRECTORY/root: nothing of the system changes. The
# tests are those written in C and the examples; then a model that build/trellis trained here has to be refused there by
# name, and its text form has to give the same labels on both. Tests that open tens of thousands of damaged files, or let
# each of thousands of allocations fail, would take hours by emulation and are left out unless TESTS=all.
set -euo pipefail
cd "$(dirname "$0")/.."
architecture=$1
mkdir -p "$2"
directory=$(cd "$2" && pwd)
shift 2
root=$directory/root build=$directory/build
case $architecture in
    s390x) compiler=s390x-linux-gnu-gcc triplet=s390x-linux-gnu
        run=(qemu-s390x -L "$root") ;;
    *) echo "cross: $architecture is not known" >&2 && exit 2 ;;
esac

# Downloads the packages of the groups build and test that are libraries, with what they depend on, and unpacks them.
unpack_packages() {
    local apt=$directory/apt options packages file
    mkdir -p "$apt"/lists/partial "$apt"/cache/archives/partial
    : >"$apt/status"
    options=(-q -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Dir::State="$apt"
        -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
        -o APT::Sandbox::User=)
    packages=$(awk '$3 ~ /^(build|test):$/ && $1 ~ /^(lib.*|zlib1g)-dev$/ { print $1 }' packages.txt)
    apt-get "${options[@]}" update || true # a part of the archive without this architecture is no harm
    apt-get "${options[@]}" install -y --no-install-recommends --download-only libc6-dev libgcc-s1 $packages
    for file in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$file" "$root"; done
    touch "$directory/unpacked"
}

[ -f "$directory/unpacked" ] || unpack_packages
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig
[ -f "$build/Makefile" ] || cmake -S . -B "$build" -G "Unix Makefiles" -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="$architecture" -DCMAKE_C_COMPILER=$compiler -DCMAKE_SYSROOT="$root" \
    -DCMAKE_FIND_ROOT_PATH="$root" -DCMAKE_LIBRARY_ARCHITECTURE=$triplet -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS=-g0 -DCMAKE_CROSSCOMPILING_EMULATOR="$(IFS=';' && echo "${run[*]}")" -DTRELLIS_TESTS=ON \
    -DTRELLIS_TEST_TIMEOUT=3600 \
    -DTRELLIS_MPI=OFF
MAKEFLAGS= cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target build_tests -- --no-print-directory
long='model/(damage|extremes|hostile)|train/(checkpoint|extremes)|faults/.*'
[ "${TESTS:-}" = all ] || export SKIP=$long
scripts/run_tests.sh "$build" "$@"

# A model of this machine there.
here=build/trellis there=("${run[@]}" "$build/trellis") t=$directory/models
mkdir -p "$t"
"$here" train -q -e 20 -m "$t/model" data/english/train.conll
"$here" tag -m "$t/model" data/english/test.conll >"$t/labels"
! "${there[@]}" tag -m "$t/model" data/english/test.conll 2>"$t/refused" || exit 1
grep 'other byte order' "$t/refused"
"$here" export "$t/model" >"$t/text"
"${there[@]}" import -m "$t/imported" "$t/text"
"${there[@]}" tag -m "$t/imported" data/english/test.conll | cmp - "$t/labels"
echo "cross: models of this machine on $architecture: as they should be"
