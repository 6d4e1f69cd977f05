#!/usr/bin/env bash
# Every public function, called with each of its pointers NULL, gives a status or an answer and never crashes. The calls
# are made from the header.
set -eu
python3 scripts/null_arguments.py --cases >"$TRELLIS_TMP/cases.h"
printf 'x A\ny B\n\ny B\nx A\n' >"$TRELLIS_TMP/corpus"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -g -w ${TRELLIS_SANITIZE:+-fsanitize=$TRELLIS_SANITIZE} -Iinclude -I"$TRELLIS_TMP" \
    tests/install/null_arguments.c "$TRELLIS_BUILD/libtrellis.so" -Wl,-rpath,"$TRELLIS_BUILD" -o "$TRELLIS_TMP/null_arguments"
"$TRELLIS_TMP/null_arguments" "$TRELLIS_TMP/corpus"
{
    echo "# NULL arguments"
    echo
    echo "Made from \`include/trellis.h\` by \`scripts/null_arguments.py\`; \`tests/install/test_null_arguments.sh\` calls every"
    echo "function with each of its pointers NULL, and compares this page (\`UPDATE=1\` rewrites it)."
    echo
    python3 scripts/null_arguments.py --table
} >"$TRELLIS_TMP/null_arguments.md"
[ "${UPDATE:-}" != 1 ] || cp "$TRELLIS_TMP/null_arguments.md" docs/null_arguments.md
diff "$TRELLIS_TMP/null_arguments.md" docs/null_arguments.md
