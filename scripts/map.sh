#!/usr/bin/env bash
# Rewrites the table in src/README.md from the first line of every source file; with --check it only says
# whether the table is up to date.
set -euo pipefail
cd "$(dirname "$0")/.."
map=src/README.md

table() {
    local file line
    for file in src/*/*.[ch]; do
        read -r line <"$file"
        # "/* name.c - the idea" up to the end of the comment or of the line
        line=$(sed -E 's|^/\* *[a-z0-9_]+\.[ch] - ||; s| *\*/$||; s|\.$||' <<<"$line")
        printf '| %s | `%s` | %s |\n' "$(basename "$(dirname "$file")")" "$(basename "$file")" "$line"
    done
}

fresh=$(sed '/^|---/q' "$map"; table)
if [ "${1:-}" = --check ]; then
    diff <(printf '%s\n' "$fresh") "$map" || { echo "src/README.md is out of date: run scripts/map.sh"; exit 1; }
else
    printf '%s\n' "$fresh" >"$map"
fi
