#!/usr/bin/env bash
# `make bench`: every part of the suite, a table on standard output and all records in a JSON file.
#
#   bench/run.sh [TRELLIS] [JSON]
#
# Times are for comparing within one run on a quiet machine; nothing is asserted. It takes some fifteen minutes;
# BENCH_FULL=1 adds what takes longer, BENCH_QUICK=1 only shows that the scripts run.
# BENCH_PEER_FLAGS="-O3 -march=native" says how the other tools were built, which cannot be seen from here: it is printed
# and recorded with their figures.
# BENCH_PARTS="training tagging library growth peers serve targets" chooses; `foreign`, which has other programs train, runs
# only if it is named.
set -euo pipefail
cd "$(dirname "$0")/.."
export TRELLIS=${1:-build/trellis}
json=${2:-bench.json}
WORK=$(mktemp -d)
export WORK RECORDS=$WORK/records
trap 'rm -rf "$WORK"' EXIT
: >"$RECORDS"
# A name can be that of many processors, so family and model are said as well.
processor=$(LC_ALL=C lscpu 2>/dev/null | awk -F ': *' '
    $1 == "Model name" { name = $2 } $1 == "CPU family" { family = $2 } $1 == "Model" { model = $2 }
    END { print name ? name ", family " family ", model " model : "unknown" }' || true)
sets=$(grep -m 1 -oE 'avx2|avx512f|avx512vl|asimd' /proc/cpuinfo | sort -u | paste -sd ' ' || true)
peer_flags=${BENCH_PEER_FLAGS:-not said}
echo "## $("$TRELLIS" --version | head -n 1), $(date -u +%Y-%m-%d), $(nproc) processors"
echo
echo "Processor: $processor (${sets:-no vector instructions beyond the baseline}). Other tools built with: $peer_flags."
printf '{"name": "machine", "processor": "%s", "instructions": "%s", "processors": %d, "peer_flags": "%s"}\n' \
    "${processor//\"/}" "$sets" "$(nproc)" "${peer_flags//\"/}" >>"$RECORDS"
failed=
for part in ${BENCH_PARTS:-training tagging library growth peers serve targets}; do
    bash "bench/$part.sh" || failed+=" $part"
done
{
    echo "["
    sed '$!s/$/,/' "$RECORDS"
    echo "]"
} >"$json"
echo
echo "All figures are in $json."
[ -z "$failed" ] || { echo "bench: failed:$failed" >&2; exit 1; }
