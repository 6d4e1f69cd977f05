#!/usr/bin/env bash
# Line coverage of src/, by folder and by file, after a run of the tests in a build with TRELLIS_COVERAGE=ON.
#
#   scripts/coverage.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1

# A file whose object never ran has a .gcno and no .gcda: gcov reports it as 0 %.
find "$build/CMakeFiles/trellis_objects.dir" -name '*.gcno' -print0 |
    xargs -0 "${GCOV:-gcov}" --no-output 2>/dev/null |
    awk -v root="$PWD/" '
        /^File / { file = substr($0, 7, length($0) - 7); sub(root, "", file); next }
        /^Lines executed:/ && file ~ /^src\/.*\.c$/ {
            split($0, part, /[:%]| of /)
            total = part[4] + 0; reached = int(total * part[2] / 100 + 0.5)
            folder = file; sub(/\/[^\/]*$/, "", folder)
            lines[file] += total; hits[file] += reached
            lines[folder] += total; hits[folder] += reached
            lines["src"] += total; hits["src"] += reached
        }
        { file = "" }
        END {
            for (name in lines)
                if (lines[name]) printf "%s %d %d %.1f\n", name, hits[name], lines[name], 100 * hits[name] / lines[name]
        }' |
    sort | awk '
        BEGIN { printf "%-40s %8s %8s %7s\n", "", "reached", "lines", "%" }
        { printf "%-40s %8d %8d %7.1f\n", ($1 ~ /\.c$/ ? "    " : "") $1, $2, $3, $4 }'
