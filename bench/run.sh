#!/usr/bin/env bash
# `make bench`: every part of the suite, a table on standard output and all records in a JSON file.
#
#   bench/run.sh [TRELLIS] [JSON]
#
# Times are for comparing within one run on a quiet machine; nothing is asserted. It takes some fifteen minutes;
# BENCH_FULL=1 adds what takes longer, BENCH_QUICK=1 only shows that the scripts run.
# BENCH_PARTS="training tagging library growth peers serve" chooses; `foreign`, which has other programs train, runs
# only if it is named.
set -euo pipefail
cd "$(dirname "$0")/.."
export TRELLIS=${1:-build/trellis}
json=${2:-bench.json}
WORK=$(mktemp -d)
export WORK RECORDS=$WORK/records
trap 'rm -rf "$WORK"' EXIT
: >"$RECORDS"
echo "## $("$TRELLIS" --version | head -n 1), $(date -u +%Y-%m-%d), $(nproc) processors"
for part in ${BENCH_PARTS:-training tagging library growth peers serve}; do
    bash "bench/$part.sh"
done
{
    echo "["
    sed '$!s/$/,/' "$RECORDS"
    echo "]"
} >"$json"
echo
echo "All figures are in $json."
