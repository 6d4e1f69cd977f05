# browser.sh - opens pages in a real browser; sourced by the tests that look at them.
#
#   page FILE [SCRIPT]    opens FILE; $dom holds the document as it is once its scripts have run, $requests what
#                         the browser asked of any network. With SCRIPT, that JavaScript runs in the page when it
#                         is ready, and what it logs by `say(...)` is in $said, a line each.
#
# Without a Chromium the test is skipped: `need_browser` says so.
. tests/cli/lib.sh
dom=$TRELLIS_TMP/dom
requests=$TRELLIS_TMP/requests
said=$TRELLIS_TMP/said

need_browser() {
    for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        if [ -n "$browser" ] && command -v "$browser" >/dev/null; then return; fi
    done
    echo "skipped: no Chromium was found to open pages with"
    exit 77
}

chrome() {
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --disable-default-apps \
        --user-data-dir="$TRELLIS_TMP/profile" "$@" 2>"$TRELLIS_TMP/chrome.err"
}

page() {
    local file=$1
    if [ $# -gt 1 ]; then
        # The script goes after the page's own, and into a page of its own so that FILE stays as it is.
        file=$TRELLIS_TMP/scripted.html
        { cat "$1"; cat <<SCRIPT
<script>
window.addEventListener("load", function () {
  var out = document.createElement("pre"); out.id = "said";
  function say() { out.textContent += Array.prototype.join.call(arguments, " ") + "\\n"; }
  try { $2 } catch (e) { say("SCRIPT ERROR " + e); }
  document.body.appendChild(out);
});
</script>
SCRIPT
        } | sed 's|<meta http-equiv="Content-Security-Policy"[^>]*>||' >"$file"
    fi
    chrome --virtual-time-budget=4000 --log-net-log="$TRELLIS_TMP/net.json" --net-log-capture-mode=Everything \
        --dump-dom "file://$(realpath "$file")" >"$dom" || complain "$browser could not open $1"
    # The browser has errands of its own; those of pages carry the marks of Blink's loader and of navigation.
    grep -E '"traffic_annotation":(101845102|63171670),' "$TRELLIS_TMP/net.json" |
        grep -oE '"url":"(https?|wss?|ftp):[^"]*"' | sort -u >"$requests"
    sed -n '/<pre id="said">/,/<\/pre>/p' "$dom" | sed -e 's/.*<pre id="said">//' -e '/^<\/pre>/d' \
        -e 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >"$said"
}

# A request is noticed where there is one; else nothing that follows would mean anything.
check_requests() {
    echo '<!DOCTYPE html><title>x</title><img src="http://example.invalid/a.png" alt="">' >"$TRELLIS_TMP/request.html"
    page "$TRELLIS_TMP/request.html"
    want "requests are noticed" grep -q example.invalid "$requests"
}

# How often a pattern occurs in the document.
occurrences() {
    grep -oE -- "$1" "$dom" | wc -l
}
