#!/usr/bin/env bash
# Measures trellis-mpi: seconds, bytes and waiting of an iteration of L-BFGS on one and several ranks, on one
# machine and on hosts that a network connects.
#
#   bench/mpi.sh BUILD FILE [OPTION...]     FILE is a corpus, the options are those of `trellis train`
#
# The hosts are network namespaces on a bridge, with the rate of each link set by tc (a token bucket); they need root.
# RANKS="2 4" chooses the numbers of ranks, NETWORKS="none 10gbit 1gbit 1gbit+0.001" the networks (none: shared memory of
# one machine; +SECONDS: bench/delay.py in place of the bridge), ITERATIONS=8. The delay of the table is half an echo over
# TCP. "MB sent" is that of the rank which sends the most.
# The table gives for every case what was measured and what the model of docs/scale.md predicts from the first two cases alone.
set -euo pipefail
build=$(cd "$1" && pwd) file=$2
shift 2
ranks=${RANKS:-2} networks=${NETWORKS:-none 10gbit 1gbit} iterations=${ITERATIONS:-8}
tmp=$(mktemp -d) switch=
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
most=$(tr ' ' '\n' <<<"$ranks" | sort -n | tail -n 1)

remove_hosts() {
    if [ -n "$switch" ]; then
        kill "$switch"
        wait "$switch" 2>/dev/null || true
        switch=
        rm "$tmp/switch"
    fi
    for i in $(seq "$most"); do
        ip link del "tr$i" 2>/dev/null || true # a namespace takes its time to do so
        ip netns del "trellis$i" 2>/dev/null || true
    done
    ip link del trellis0 2>/dev/null || true
}
trap 'remove_hosts; rm -rf "$tmp"' EXIT

# make_hosts RATE[+DELAY]: hosts 10.77.0.1 .., connected by a bridge or delay.py; trellis0, 10.77.0.254, is this one.
make_hosts() {
    local delay=${1#*+} i
    for i in $(seq "$most"); do ip netns add "trellis$i"; done
    if [ "$delay" != "$1" ]; then
        # shellcheck disable=SC2046
        python3 bench/delay.py "$delay" $(seq -f 'trellis%g' "$most") >"$tmp/switch" &
        switch=$!
        until grep -qs ready "$tmp/switch"; do kill -0 "$switch" && sleep 0.05; done
    else
        ip link add trellis0 type bridge
        for i in $(seq "$most"); do
            ip link add "tr$i" type veth peer name eth0 netns "trellis$i"
            ip link set "tr$i" master trellis0 up
        done
    fi
    ip addr add 10.77.0.254/24 dev trellis0
    ip link set trellis0 up
    for i in $(seq "$most"); do
        ip -n "trellis$i" addr add "10.77.0.$i/24" dev eth0
        ip -n "trellis$i" link set eth0 up
        ip -n "trellis$i" link set lo up
        tc -n "trellis$i" qdisc add dev eth0 root tbf rate "${1%+*}" burst 256kb latency 100ms
    done
}

# What mpirun starts its daemon on another host with: the last part of the address is the number of the namespace.
cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
export TMPDIR="${0%/*}/${host##*.}"
mkdir -p "$TMPDIR"
exec ip netns exec "trellis${host##*.}" unshare -u sh -c "hostname trellis${host##*.}; $*"
END
chmod +x "$tmp/agent"

# Half the time of a small message from the first host to the second and back, in seconds.
cat >"$tmp/echo.py" <<'END'
import socket, statistics, sys, time
if sys.argv[1] == "server":
    listener = socket.create_server(("10.77.0.2", 7707))
    peer = listener.accept()[0]
    while data := peer.recv(64):
        peer.sendall(data)
else:
    for _ in range(100):
        try:
            peer = socket.create_connection(("10.77.0.2", 7707))
            break
        except OSError:
            time.sleep(0.05)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    for _ in range(200):
        began = time.perf_counter()
        peer.sendall(b"x" * 32)
        peer.recv(64)
        times.append(time.perf_counter() - began)
    print(statistics.median(times) / 2)
END
measure_delay() {
    ip netns exec trellis2 python3 "$tmp/echo.py" server &
    local server=$!
    ip netns exec trellis1 python3 "$tmp/echo.py" client >"$tmp/delay"
    wait "$server"
}

# train RANKS ITERATIONS OPTION...: on the hosts of $where.
train() {
    local n=$1 most_iterations=$2
    shift 2
    mpirun -n "$n" ${where[@]+"${where[@]}"} -x TRELLIS_MPI_REPORT="$tmp/report" "$build/trellis-mpi" train -q -t crf -a lbfgs \
        --warm-up 0 --threads 1 -e "$most_iterations" --epsilon 0 --delta 0 --log "$tmp/log" -m "$tmp/model" "$@" "$file"
}

# measure NETWORK RANKS OPTION...: a line of the table.
measure() {
    local network=$1 n=$2 where=()
    shift 2
    if [ "$network" != none ]; then
        remove_hosts
        make_hosts "$network"
        measure_delay
        local hosts
        hosts=$(seq -f '10.77.0.%g' -s , "$n")
        where=(--host "$hosts" --mca plm_rsh_agent "$tmp/agent" --mca btl tcp,self --mca rtc ^hwloc
            --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24)
    fi
    # Once for an iteration alone, whose messages are those of the beginning and two evaluations.
    train "$n" 1 "$@"
    cat "$tmp/report" >>"$tmp/begun"
    train "$n" "$iterations" "$@"
    echo "$network $n $(md5sum <"$tmp/model" | cut -c 1-8) $(cat "$tmp/delay" 2>/dev/null || echo 0)" >>"$tmp/cases"
    cat "$tmp/report" >>"$tmp/reports"
    cp "$tmp/log" "$tmp/log.$(wc -l <"$tmp/cases")"
}
measure none 1 "$@"
for n in $ranks; do
    for network in $networks; do measure "$network" "$n" "$@"; done
done

python3 - "$tmp" <<'END'
import json, statistics, sys
tmp = sys.argv[1]
cases = [line.split() for line in open(tmp + "/cases")]
reports = [json.loads(line) for line in open(tmp + "/reports")]
begun = [json.loads(line) for line in open(tmp + "/begun")]
def iterations(i):
    seconds = [json.loads(line)["seconds"] for line in open(f"{tmp}/log.{i + 1}")]
    return seconds
alone = statistics.median(b - a for a, b in zip(iterations(0), iterations(0)[1:]))
shared = {}  # what an iteration takes on so many ranks without a network: compute / N and all that is not shared
print("network        ranks  model     delay, ms  s/iteration  speed-up  predicted  error  MB sent  s waited")
for i, ((network, n, model, delay), report, before) in enumerate(zip(cases, reports, begun)):
    n, all_ = int(n), iterations(i)
    seconds = statistics.median(b - a for a, b in zip(all_, all_[1:]))
    each = {key: (report[key] - before[key]) / (len(all_) - 1) for key in report}  # iteration
    sent = each["most_sent_bytes"]
    messages = 2 * each["agreed"] + each["exchanges"]
    if network == "none":
        shared[n] = seconds
        predicted = ""
    else:
        link = network.split("+")[0]
        rate = {"mbit": 1e6, "gbit": 1e9}[link[-4:]] * float(link[:-4]) / 8
        guess = shared.get(n, alone / n) + sent / rate + messages * float(delay)
        predicted = f"{guess:9.3f} {100 * (guess / seconds - 1):5.0f}%"
    print(f"{network:13} {n:6}  {model} {1000 * float(delay):10.3f} {seconds:12.3f} {alone / seconds:9.2f}  {predicted:16} "
          f"{sent / 1e6:7.2f} {each['waited_seconds']:9.4f}")
END
