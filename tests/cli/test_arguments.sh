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

for command in train tag eval cluster convert features info export import sample help version; do
    run 0 "$command" --help
    want "$command --help begins with its name" grep -q "^trellis $command - " "$out"
    want "$command --help has examples" grep -q '^Examples:$' "$out"
    want "$command --help writes nothing to standard error" test ! -s "$err"
    want "no line of $command --help is wider than 80" test -z "$(grep -E '.{81}' "$out" | grep -v '^  \(trellis\|#\|echo\) ')"
done

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
