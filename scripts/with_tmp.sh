#!/usr/bin/env bash
# Runs a command with TRELLIS_TMP naming a fresh directory, removes it, and ends with the command's status.
#
#   scripts/with_tmp.sh COMMAND [ARGUMENT...]
TRELLIS_TMP=$(mktemp -d "${TMPDIR:-/tmp}/trellis-test.XXXXXX") || exit 1
export TRELLIS_TMP
trap 'rm -rf "$TRELLIS_TMP"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
"$@"
