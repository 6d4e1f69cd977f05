#!/usr/bin/env bash
# Rewrites the table in src/README.md from the first sentence of every source file; --check only tells whether the table
# is up to date.
set -euo pipefail
cd "$(dirname "$0")/.."
map=src/README.md

# The first sentence of a file: "/* name.c - what it is", up to a full stop, an empty line or the end of the comment.
opening() {
    awk 'FNR == 1 { sub(/^\/\* *[a-z0-9_]+\.[ch] - /, "") }
         { done = /\*\/ *$/; sub(/ *\*\/ *$/, ""); if (FNR > 1) sub(/^ \*/, "") }
         FNR > 1 && !NF { exit }
         { sub(/^ +/, ""); text = text (FNR > 1 ? " " : "") $0 }
         done || /:$/ { exit }
         END { if (match(text, /\. [A-Z`]/)) text = substr(text, 1, RSTART); sub(/[.:]$/, "", text); print text }' "$1"
}

table() {
    local file
    for file in src/*/*.[ch]; do
        printf '| %s | `%s` | %s |\n' "$(basename "$(dirname "$file")")" "$(basename "$file")" "$(opening "$file")"
    done
}

fresh=$(sed '/^|---/q' "$map"; table)
if [ "${1:-}" = --check ]; then
    diff <(printf '%s\n' "$fresh") "$map" || { echo "src/README.md is out of date: run scripts/map.sh"; exit 1; }
else
    printf '%s\n' "$fresh" >"$map"
fi
