#!/usr/bin/env bash
# Installs the missing packages of the given groups of packages.txt.
#
#   scripts/setup.sh GROUP...        for example: scripts/setup.sh build test
#
# If nothing is missing this is one call of dpkg-query, without apt-get.
set -euo pipefail
cd "$(dirname "$0")/.."

# Packages of the given groups; an optional one keeps its '?'.
wanted=$(awk -v groups=" $* " '
    /^[[:space:]]*(#|$)/ { next }
    { group = $3; sub(/:$/, "", group); if (index(groups, " " group " ")) print $1 }' packages.txt)
if [ -z "$wanted" ]; then
    echo "setup: packages.txt has no package in: $*" >&2
    exit 1
fi

# Sets $required and $optional to the missing packages of each kind.
find_missing() {
    local installed name
    installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' ${wanted//\?/} 2>/dev/null |
        sed -n 's/^installed //p') || true
    required=() optional=()
    for name in $wanted; do
        grep -qxF -- "${name%\?}" <<<"$installed" && continue
        case $name in
            *\?) optional+=("${name%\?}") ;;
            *) required+=("$name") ;;
        esac
    done
}

# The optional packages that this release has.
known() {
    local name
    for name in "$@"; do
        apt-cache show "$name" >/dev/null 2>&1 && echo "$name"
    done
    return 0
}

give_up() {
    echo "setup: these packages are missing: ${required[*]}" >&2
    echo "setup: $1 Please install them (or what your system calls them), then run: make SETUP=no TARGET" >&2
    exit 1
}

if command -v dpkg-query >/dev/null; then
    find_missing
else
    required=(${wanted//\?/}) optional=()
fi
if [ ${#required[@]} -eq 0 ] && [ ${#optional[@]} -eq 0 ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    [ ${#required[@]} -eq 0 ] && exit 0
    give_up "There is no apt-get here to install them with."
fi
if [ ${#required[@]} -eq 0 ] && [ -z "$(known "${optional[@]}")" ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        required+=($(known "${optional[@]}"))
        give_up "Installing them needs root, and there is no sudo here."
    fi
    as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }

# A package list that is missing or older than a day may name files that the mirror no longer has.
if [ -z "$(find /var/lib/apt/lists -name '*Packages*' -mtime -1 -print -quit 2>/dev/null)" ]; then
    echo "setup: apt-get update"
    apt update || echo "setup: apt-get update failed; trying with the lists there are" >&2
fi
packages=("${required[@]}" $(known "${optional[@]}"))
[ ${#packages[@]} -eq 0 ] && exit 0
echo "setup: installing ${packages[*]}"
install=(install -y --no-install-recommends "${packages[@]}")
if ! apt "${install[@]}" && ! { apt update && apt "${install[@]}"; }; then
    echo "setup: apt-get could not install: ${packages[*]}" >&2
    exit 1
fi
