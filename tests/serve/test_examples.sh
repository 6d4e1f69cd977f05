#!/usr/bin/env bash
# The configurations in examples/serve: nginx accepts its own and passes requests on; systemd has nothing to say about
# the unit. What is not installed here is skipped.
set -uo pipefail
checked=0 failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# A free port that nobody listens on.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# The example, with a certificate of our own and free ports, run by an ordinary user in $TRELLIS_TMP.
if nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null) && command -v openssl >/dev/null; then
    checked=1
    tmp=$TRELLIS_TMP front=$(free_port) back=$(free_port)
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=tagger.example.org -days 2 \
        -keyout "$tmp/key" -out "$tmp/certificate" 2>/dev/null
    sed -e "s|/etc/ssl/.*\.pem|$tmp/certificate|; s|/etc/ssl/.*\.key|$tmp/key|; /\[::\]/d" \
        -e "s|listen 443|listen 127.0.0.1:$front|; s|127.0.0.1:8080|127.0.0.1:$back|" examples/serve/nginx.conf >"$tmp/site"
    cat >"$tmp/nginx.conf" <<CONF
daemon off;
pid $tmp/pid;
error_log $tmp/error.log;
events { }
http {
    access_log off;
    client_body_temp_path $tmp/body;
    proxy_temp_path $tmp/proxy;
    fastcgi_temp_path $tmp/fastcgi;
    uwsgi_temp_path $tmp/uwsgi;
    scgi_temp_path $tmp/scgi;
    include $tmp/site;
}
CONF
    "$nginx" -t -q -e "$tmp/error.log" -c "$tmp/nginx.conf" || fail "nginx does not accept the example"
    "$TRELLIS" train -q -m "$tmp/x.model" data/acronyms/dev.conll
    "$TRELLIS" serve -m "$tmp/x.model" --listen "127.0.0.1:$back" --allow-host tagger.example.org 2>/dev/null &
    service=$!
    "$nginx" -e "$tmp/error.log" -c "$tmp/nginx.conf" &
    server=$!
    trap 'kill $service $server 2>/dev/null; wait' EXIT
    ask() {
        curl -s -o "$tmp/answer" -w '%{http_code}' --retry 30 --retry-connrefused --retry-delay 1 --cacert "$tmp/certificate" \
            --connect-to "tagger.example.org:443:127.0.0.1:$front" "$@"
    }
    [ "$(ask https://tagger.example.org/health)" = 200 ] || fail "no answer through nginx: $(cat "$tmp/answer")"
    here=(-d '{"tokens":["a"]}' https://tagger.example.org/v1/tag)
    [ "$(ask -H 'Origin: https://tagger.example.org' "${here[@]}")" = 200 ] || fail "its own page is refused"
    [ "$(ask -H 'Origin: https://evil.example' "${here[@]}")" = 403 ] || fail "another page is not refused"
    [ "$(ask https://tagger.example.org/metrics)" = 403 ] || fail "metrics are public"
fi

if command -v systemd-analyze >/dev/null; then
    checked=1
    sed "s|/usr/local/bin/trellis|$TRELLIS|" examples/serve/trellis-serve.service >"$TRELLIS_TMP/trellis-serve.service"
    complaints=$(systemd-analyze verify --man=no "$TRELLIS_TMP/trellis-serve.service" 2>&1 | grep -F trellis-serve)
    [ -z "$complaints" ] || fail "$complaints"
fi
[ $checked = 1 ] || exit 77
exit $failed
