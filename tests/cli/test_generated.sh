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
for shell in bash zsh fish; do
    generated completions/trellis.$shell --completion $shell
done
generated docs/man/trellis.1 --man
generated docs/man/trellis-mpi.1 --man mpi
"$TRELLIS" help | sed -n '/^Subcommands:$/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' >$TRELLIS_TMP/commands
want "the subcommands are found" test "$(wc -l <$TRELLIS_TMP/commands)" -ge 20
for command in $(cat $TRELLIS_TMP/commands); do
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
want "algorithms are those of the type" test "$(complete_line trellis train -t crf -a '')" = "lbfgs sgd cg gd"
want "algorithms without a type are those of the default" test "$(complete_line trellis train -a pa1)" = pa1
want "model types are explained" test "$(complete_line trellis help per)" = perceptron

if command -v fish >/dev/null; then
    fish_line() { # what fish would offer, without descriptions
        HOME=$TRELLIS_TMP fish -c 'source completions/trellis.fish; complete -C "$argv"' "$1" | cut -f 1 | tr '\n' ' '
    }
    want "fish: subcommands" test "$(fish_line 'trellis tr')" = "train "
    want "fish: options" test "$(fish_line 'trellis eval --stri')" = "--strict "
    want "fish: algorithms" test "$(fish_line 'trellis train -t hmm -a ' | tr ' ' '\n' | sort | xargs)" = "counts em viterbi"
    want "fish: choices" test "$(fish_line 'trellis convert --format conll')" = "conllu "
fi
if command -v zsh >/dev/null; then
    zsh_line() { # the same, with zsh's own functions replaced by ones that print
        zsh -f -c 'compdef() { :; }; compadd() { shift; print -l -- $@; }; _files() { print FILES; }
            _describe() { print -l -- ${(P)2%%:*}; }
            source completions/trellis.zsh; words=("$@"); CURRENT=$#; _trellis' - "$@" | tr '\n' ' '
    }
    want "zsh: subcommands" sh -c "echo '$(zsh_line trellis '')' | grep -q '^check train tag .* version $'"
    want "zsh: options" sh -c "echo '$(zsh_line trellis eval -)' | grep -q -e '--strict '"
    want "zsh: algorithms" test "$(zsh_line trellis train -t hmm -a '')" = "counts em viterbi "
    want "zsh: files" test "$(zsh_line trellis train '')" = "FILES "
    want "zsh: model types" sh -c "echo '$(zsh_line trellis help '')' | grep -q ' perceptron .* memm $'"
fi
if command -v groff >/dev/null; then
    for page in docs/man/*.1; do
        want "$page is well-formed" test -z "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)"
    done
fi
finish
