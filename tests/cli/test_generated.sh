# The manual pages, docs/cli.md and the completion are generated from the tables and must be up to date.
# UPDATE=1 rewrites them.
. tests/cli/lib.sh

# generated FILE ARGUMENT...
generated() {
    local file=$1
    shift
    run 0 help "$@" || return
    if [ "${UPDATE:-}" = 1 ]; then
        mkdir -p "$(dirname "$file")"
        cp "$out" "$file"
    else
        diff -u "$file" "$out" || complain "$file is out of date: UPDATE=1 TRELLIS=... bash tests/cli/test_generated.sh"
    fi
}

generated docs/cli.md --markdown
generated completions/trellis.bash --completion
generated docs/man/trellis.1 --man
for command in train tag eval compare cv tune cluster convert features info export import sample serve help version; do
    generated docs/man/trellis-$command.1 --man $command
done
want "the completion is a bash script" bash -n completions/trellis.bash

# The completion knows subcommands, options and choices.
complete_line() {
    bash -c '. completions/trellis.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _trellis; echo "${COMPREPLY[*]}"' - "$@"
}
want "subcommands are completed" test "$(complete_line trellis tr)" = train
want "options are completed" test "$(complete_line trellis eval --stri)" = --strict
want "choices are completed" test "$(complete_line trellis convert --format conll)" = conllu
if command -v groff >/dev/null; then
    for page in docs/man/*.1; do
        want "$page is well-formed" test -z "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)"
    done
fi
finish
