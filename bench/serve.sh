#!/usr/bin/env bash
# trellis serve under load, on the same machine as the client: the CoNLL-2000 chunker with CRF++'s templates. Needs wrk.
# With CRFSUITE_PYTHON, an interpreter that has python-crfsuite and gunicorn, also the service of crfsuite_service.py.
set -euo pipefail
. bench/lib.sh
corpus=$(cut_corpus conll2000)
if [ -z "$corpus" ] || ! command -v wrk >/dev/null; then
    echo "bench: trellis serve is not measured: it needs wrk and the corpus conll2000"
    exit 0
fi
seconds=${BENCH_QUICK:+1}
seconds=${seconds:-8}
model=$work/chunk.model
[ -n "${SERVE_MODEL:-}" ] && model=$SERVE_MODEL ||
    "$trellis" train -q -t crf -f examples/templates/crfpp-chunking.txt -m "$model" "$corpus/train.txt"

# One sentence of 25 tokens a request, and batches of 100 sentences.
python3 - "$corpus/test.txt" "$work" <<'PY'
import json, sys
sentences = [[line.split() for line in part.splitlines()] for part in open(sys.argv[1]).read().split("\n\n") if part.strip()]
form = lambda s: {"tokens": [row[0] for row in s], "pos": [row[1] for row in s]}
write = lambda name, requests: open(f"{sys.argv[2]}/{name}", "w").write("".join(json.dumps(r) + "\n" for r in requests))
write("single", [form(s) for s in sentences if len(s) == 25] or [form(sentences[0])])
write("batch", [{"sequences": [form(s) for s in sentences[i:i + 100]]} for i in range(0, len(sentences) - 99, 100)])
PY

# load NAME PORT CONNECTIONS: sets $rate (requests a second), $median and $p99 (milliseconds).
load() {
    BODIES=$work/$1 wrk -t1 -c "$3" -d "${seconds}s" -s bench/serve.lua --latency "http://127.0.0.1:$2" >"$work/wrk"
    rate=$(awk '/^Requests\/sec/ { print $2 }' "$work/wrk")
    if grep -E 'Non-2xx|Socket errors' "$work/wrk"; then fail wrk "$1"; fi
    read -r median p99 < <(awk '
        function ms(t) { return t ~ /us$/ ? t / 1000 : t ~ /ms$/ ? t + 0 : t * 1000 }
        $1 == "50%" { a = ms($2) } $1 == "99%" { b = ms($2) } END { print a, b }' "$work/wrk")
}

# per_request NAME: mean tokens of a request.
per_request() {
    python3 -c 'import json, sys
sizes = [sum(len(s["tokens"]) for s in r.get("sequences", [r])) for r in map(json.loads, open(sys.argv[1]))]
print(sum(sizes) / len(sizes))' "$work/$1"
}

# measure_service NAME PORT
measure_service() {
    load single "$2" 64
    row "$1" "one sentence, 64 connections" "$rate" "$(calculate "$rate * $(per_request single)")" "$median" "$p99"
    record serve service "$1" request single requests_per_second "$rate" median_ms "$median" p99_ms "$p99"
    load batch "$2" 4
    row "$1" "100 sentences, 4 connections" "$rate" "$(calculate "$rate * $(per_request batch)")" "$median" "$p99"
    record serve service "$1" request batch requests_per_second "$rate" \
        tokens_per_second "$(calculate "$rate * $(per_request batch)")" median_ms "$median" p99_ms "$p99"
}

# alive NAME PROCESS PORT: ends the part if a service has ended.
alive() { kill -0 "$2" 2>/dev/null || { echo "bench: $1 has ended; is port $3 in use?" >&2; exit 1; }; }

heading "trellis serve, chunking" service request requests/s tokens/s "median, ms" "p99, ms"
port=18080
start=$EPOCHREALTIME
"$trellis" serve -m "$model" --listen 127.0.0.1:$port 2>/dev/null &
service=$!
trap 'kill $service ${peer:-} 2>/dev/null || true; wait' EXIT TERM INT
until curl -sf -o /dev/null http://127.0.0.1:$port/ready; do alive "trellis serve" $service $port; done
first=$(calculate "1000 * ($EPOCHREALTIME - $start)")
measure_service trellis $port
kill $service
wait $service || true

if [ -n "${CRFSUITE_PYTHON:-}" ]; then
    "$trellis" convert -m "$model" --to crfsuite -o "$work/chunk.crfsuite"
    CRFSUITE_MODEL=$work/chunk.crfsuite "$CRFSUITE_PYTHON" -m gunicorn --chdir bench -w "$(nproc)" -k gthread --threads 4 \
        -b 127.0.0.1:$((port + 1)) --log-level error crfsuite_service:application &
    peer=$!
    until curl -sf -o /dev/null -d "$(head -n 1 "$work/single")" http://127.0.0.1:$((port + 1))/; do
        alive gunicorn $peer $((port + 1))
        sleep 0.2
    done
    measure_service "python-crfsuite, gunicorn" $((port + 1))
fi
echo
echo "First answer $first ms after the start, with a model of $(megabytes "$(($(stat -c %s "$model") / 1024))") MB."
