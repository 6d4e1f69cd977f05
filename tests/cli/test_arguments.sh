# Arguments: help, version and usage errors.
. tests/cli/lib.sh

check help 0 --help
check help 0 -h
check help 0 help
check version 0 --version
check version 0 -V
check version 0 version
check nothing 2
check help_info 0 info --help
check help_info 0 info -h
check help_info 0 help info

# Help fits a screen; --help-all has everything.
for command in check train tag eval compare cv tune cluster convert features info inspect explain show report export \
    import sample help version; do
    run 0 "$command" --help-all
    want "$command --help-all has examples" grep -q '^Examples:$' "$out"
    run 0 "$command" --help
    want "$command --help begins with its name" grep -q "^trellis $command - " "$out"
    want "$command --help has an example" grep -q '^Examples*:$' "$out"
    want "$command --help fits a screen" test "$(wc -l <"$out")" -le 40
    want "$command --help writes nothing to standard error" test ! -s "$err"
    want "no line of $command --help is wider than 80" test -z "$(grep -E '.{81}' "$out" | grep -v '^  \(trellis\|#\|echo\) ')"
done

run 0 train --help
want "train --help fits 24 lines" test "$(wc -l <"$out")" -le 24
want "it says where the rest is" grep -q "'trellis train --help-all' shows [0-9]* more options; 'trellis help crf' explains" "$out"
run 0 train --help-all
want "options are grouped by the types that take them" grep -qx 'Options of -t ssvm, -t crf, -t maxent, -t memm:' "$out"
want "and by algorithm" grep -qx 'Options of -t crf -a sgd, -t maxent -a sgd, -t memm -a sgd:' "$out"
want "every option is there" test "$(grep -c '^  .*--[a-z0-9-]* *' "$out")" -gt 60
for type in perceptron mira ssvm crf maxent hmm memm; do
    run 0 help $type
    want "help $type has its algorithms" grep -qx 'Algorithms:' "$out"
    want "help $type has a reference" grep -q '([12][09][0-9][0-9])' "$out"
    want "no line of help $type is wider than 80" test -z "$(tail -n +2 "$out" | grep -E '.{81}')"
done
run 0 help ssvm
want "defaults are those of the type" grep -q '\[4\]$' "$out"
run 2 help crff
want "a misspelt type" grep -qxF "trellis: unknown subcommand or type 'crff'; did you mean 'crf'?" "$err"

check misspelt_command 2 trian
check unknown_command 2 frobnicate
check unknown_help 2 help frobnicate
check option_first 2 --json eval
check misspelt_option 2 train --ephocs 3
check misspelt_flag 2 eval --jsno x
check unknown_option 2 tag --frobnicate
check unknown_letter 2 tag -X
check misplaced_option 2 tag --epochs 3
check missing_value 2 tag -m
check value_for_flag 2 eval --json=yes x
check bad_integer 2 train --epochs many -m x y
check bad_range 2 train --epochs=-1 -m x y
check bad_choice 2 convert --format xml
check bad_separator 2 convert --separator=comma
check no_model 2 tag
check no_training_file 2 train -m x
check no_training_model 2 train x
check two_models 2 info a b
check strict_without_scheme 2 eval --strict
check convert_without_scheme 2 convert --to-scheme iobes

# What other tools call a subcommand or an option: the message has what to type.
says() { # SENTENCE ARGUMENT...
    local sentence=$1
    shift
    run 2 "$@"
    want "trellis $* says: $sentence" grep -qxF -- "trellis: $sentence" "$err"
}
says "unknown subcommand 'learn'; did you mean 'trellis train -m MODEL FILE'?" learn x
says "unknown subcommand 'label'; did you mean 'trellis tag -m MODEL FILE'?" label x
says "unknown subcommand 'predict'; did you mean 'trellis tag -m MODEL FILE'?" predict x
says "unknown subcommand 'evaluate'; did you mean 'trellis eval -m MODEL FILE'?" evaluate x
says "unknown subcommand 'dump'; did you mean 'trellis export MODEL'?" dump x
says "unknown option '--c1'; did you mean '--l1 0.5'?" train --c1 0.5 -m x y
says "unknown option '--c2'; did you mean '--l2 0.1'?" train --c2=0.1 -m x y
says "unknown option '--max-iter'; did you mean '--epochs 50'?" train --max-iter 50 -m x y
says "unknown option '--max_iterations'; did you mean '--epochs 50'?" train --max_iterations=50 -m x y
says "unknown option '--iterations'; did you mean '--epochs 9'?" train --iterations 9 -m x y
says "unknown option '--learning-rate'; did you mean '--rate 0.1'?" train --learning-rate 0.1 -m x y
says "unknown option '--devel'; did you mean '--dev d.txt'?" train --devel d.txt -m x y
says "unknown option '--devel'; did you mean '--dev'?" train --devel -m x y
says "unknown option '--port'; did you mean '--listen 8000'?" serve -m x --port 8000

# Options that the chosen learner would ignore.
columns "$TRELLIS_TMP/data" a/X b/Y "|" a/X
not_for() { # SENTENCE ARGUMENT...
    local sentence=$1
    shift
    says "$sentence" train -q "$@" -m "$TRELLIS_TMP/model" "$TRELLIS_TMP/data"
}
not_for "--l2 does not apply to -t perceptron -a averaged; it is for -t ssvm, -t crf, -t maxent, -t memm" -t perceptron --l2 1
not_for "--mbest does not apply to -t crf -a lbfgs; it is for -t mira" -t crf --mbest 3
not_for "--rate does not apply to -t crf -a lbfgs; it is for -t crf -a sgd, -t maxent -a sgd, -t memm -a sgd" -t crf --rate 1
not_for "--epsilon does not apply to -t crf -a sgd; it is for -t crf -a lbfgs, -t crf -a cg, -t crf -a gd, -t maxent -a lbfgs, -t maxent -a cg, -t maxent -a gd, -t memm -a lbfgs, -t memm -a cg, -t memm -a gd" -t crf -a sgd --epsilon 0.1
not_for "--alpha does not apply to -t mira; it is for -t hmm" -t mira --alpha 1
not_for "--order does not apply to -t maxent, which predicts each label independently; it is for all other types" -t maxent --order 2
run 0 train -q -t crf -a sgd --select-l1 1 --epsilon 0.1 -m "$TRELLIS_TMP/model" "$TRELLIS_TMP/data"
run 0 train -q -t maxent --order 0 -m "$TRELLIS_TMP/model" "$TRELLIS_TMP/data"
want "a beam is for tagging in cross-validation" "$TRELLIS" cv -q -k 2 -t crf --decode beam --beam 2 "$TRELLIS_TMP/data"

# All ways to write an option are equivalent.
columns "$TRELLIS_TMP/two" a/B-X/B-X b/I-X/O
for way in "-o$TRELLIS_TMP/o" "-o $TRELLIS_TMP/o" "--output=$TRELLIS_TMP/o" "--output $TRELLIS_TMP/o"; do
    rm -f "$TRELLIS_TMP/o"
    run 0 eval $way "$TRELLIS_TMP/two"
    want "eval $way writes the file" grep -q 'FB1' "$TRELLIS_TMP/o"
done
run 0 eval --json --no-json "$TRELLIS_TMP/two"
want "--no-json takes back --json" grep -q '^accuracy' "$out"
run 1 eval -- --json
want "after -- there are no options" grep -q -- '--json' "$err"
finish
