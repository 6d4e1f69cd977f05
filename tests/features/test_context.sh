# What the rest of a document says of a word (--context): by hand, across the command, in threads, in
# a chain, and with hostile input.
. tests/cli/lib.sh
t=$TRELLIS_TMP

cat >$t/small.txt <<'END'
-DOCSTART- X O

Santos N O
won V O

Rain N O
fell V O
on P O
Juan N O
Santos N O
Park N O

The D O
park N O
saw V O
Santos J O
. . O

-DOCSTART- X O

Santos N O
END
cat >$t/small.tpl <<'END'
columns word pos
node written
node joined
node elsewhere(pos)
node shortshape(elsewhere(word[0]))
END
line() { awk -v n=$1 'NF && ++at == n' $out | tr '\t' ' '; } # of token n

run 0 features -f $t/small.tpl $t/small.txt
want "the word is capitalised at two places: inside a longer name, where it is N, and alone" \
    test "$(line 2)" = "O written=capitalised joined=both elsewhere(pos[0])=N shortshape(elsewhere(word[0]))=Xx"
want "the beginning of a sentence does not count as capitalised" \
    test "$(line 8)" = "O written=capitalised joined=alone elsewhere(pos[0])=N shortshape(elsewhere(word[0]))=Xx"
want "cells are compared where the word is written alike, case where it is not" \
    test "$(line 9)" = "O written=lower"
want "one capitalised word before it" test "$(line 11)" = "O written=capitalised joined=before"
want "nothing is seen across documents, nor of words that occur once" test "$(line 16)" = O
run 0 features --context 1 -f $t/small.tpl $t/small.txt
want "the window counts sentences" \
    test "$(line 13)" = "O written=capitalised joined=both elsewhere(pos[0])=N shortshape(elsewhere(word[0]))=Xx"
want "and ends" test "$(line 2)" = "O written=capitalised joined=both elsewhere(pos[0])=N shortshape(elsewhere(word[0]))=Xx"
run 0 features --context 0 -f $t/small.tpl $t/small.txt
want "no window, no context" test "$(line 2)" = O

printf '%s\n' 'A N O' '' 'a N O' '' 'a N O' '' 'a N O' '' 'A N O' '' 'AB N O' '' 'x N O' 'A N O' '' 'x N O' 'B A O' >$t/share.txt
run 0 features -f $t/small.tpl $t/share.txt
want "three of four: mostly" test "$(line 1 | cut -d ' ' -f 2)" = written=mostly-lower
want "two of three: partly" test "$(line 2 | cut -d ' ' -f 2)" = written=partly-lower
printf 'columns word\nnode written\n' >$t/written.tpl
printf 'Rain O\n\nRain O\nfell O\n' | "$TRELLIS" features -f $t/written.tpl - >$out
want "only at the beginning of sentences" test "$(line 1)" = "O written=first"
word() { printf '1\tx\t_\tX\t_\t_\t_\t_\t_\t_\n2\tAda\t_\tX\t_\t_\t_\t_\t_\t_\n\n'; }
{ word; word; echo '# newdoc id = 2'; word; } >$t/newdoc.conllu
run 0 features --label UPOS -f $t/written.tpl $t/newdoc.conllu
want "CoNLL-U names its documents" test "$(line 4) $(line 6)" = "X written=capitalised X"

# Training notes the window; what reads for the model takes it, in any number of threads.
cat >$t/ner.tpl <<'END'
columns word
node word[-1..1]
node written[-1..1]
node joined & shortshape(word)
node elsewhere(word)
step
END
run 0 train -q -t perceptron -e 3 --columns word,pos,chunk,entity --label entity -f $t/ner.tpl -m $t/one -j 1 data/english/train.conll
run 0 train -q -t perceptron -e 3 --columns word,pos,chunk,entity --label entity -f $t/ner.tpl -m $t/two -j 2 data/english/train.conll
want "the same model in threads" cmp $t/one $t/two
run 0 info $t/one
want "the window is noted" grep -q "input-context.*25" $out
run 0 tag -j 1 -m $t/one -o $t/tagged.1 data/english/test.conll
run 0 tag -j 2 -m $t/one -o $t/tagged.2 data/english/test.conll
want "the same labels in threads" cmp $t/tagged.1 $t/tagged.2
run 0 tag --context 0 -m $t/one -o $t/tagged.0 data/english/test.conll
want "without context other labels" test "$(cmp $t/tagged.0 $t/tagged.1 >/dev/null && echo same)" != same
run 0 explain -m $t/one data/english/test.conll
want "explanations know the attributes" grep -q "written" $out
run 0 cv -k 2 -q -t perceptron -e 2 --columns word,pos,chunk,entity --label entity -f $t/ner.tpl data/english/train.conll

# In a chain the context has the column of the model before.
run 0 train -q -t perceptron -e 3 --columns word,pos,chunk,entity --label pos -f pos -m $t/pos data/english/train.conll
printf 'columns word pos\nnode word\nnode elsewhere(pos)\nstep\n' >$t/chunk.tpl
run 0 train -q -t perceptron -e 3 --columns word,pos,chunk,entity --label chunk -f $t/chunk.tpl -m $t/chunk data/english/train.conll
cut -f 1 data/english/test.conll >$t/words
run 0 tag -m $t/pos --columns word -o $t/first $t/words
run 0 tag -m $t/chunk --columns word,pos -o $t/second $t/first
run 0 tag -j 2 -m $t/pos -m $t/chunk --columns word $t/words
want "a chain is one model after the other" diff <(awk '{ $1 = $1 } 1' $t/second) <(awk '{ $1 = $1 } 1' $out)

# Sequences before an error are tagged; one long sequence of one word takes no quadratic time.
{ cat $t/words; printf 'a\xff\n'; } >$t/broken
run 1 tag -m $t/one --columns word $t/broken
want "what is before the error is written" test "$(grep -c . $out)" -gt 100
yes Ada | head -n 60000 >$t/long
run 0 tag -m $t/one --columns word $t/long

# The label is not to be seen.
printf 'columns word pos\nnode elsewhere(pos)\n' >$t/label.tpl
run 1 train -q --columns word,pos,chunk,entity --label pos -f $t/label.tpl -m $t/no data/english/train.conll
want "the label is no context" grep -q "which is the label" $err

for wrong in 'elsewhere(lower(word))' 'real(elsewhere(word))' 'rare(elsewhere(word),2)' 'elsewhere(first)'; do
    printf 'columns word\nnode %s\n' "$wrong" >$t/wrong.tpl
    run 1 features -f $t/wrong.tpl $t/small.txt
    want "refused: $wrong" grep -q "wrong.tpl:2" $err
done
finish
