#!/usr/bin/env bash
# Limits on untrusted input hold while it is read: the memory of a training, the size of a sequence, a token and a file,
# compressed data that grows, devices without an end, regular expressions that backtrack, n-best lists. Each case must
# end with status 1 and a sentence that names the option, within a few times the memory that it allows.
. tests/cli/lib.sh
t=$TRELLIS_TMP

# within STATUS MAX_MB ARGUMENT...: ends with that status, using at most MAX_MB of memory
within() {
    local wanted=$1 max=$2 peak status
    shift 2
    cases=$((cases + 1))
    if [ -x /usr/bin/time ] && [ -z "${TRELLIS_SANITIZE:-}" ]; then
        timeout 60 /usr/bin/time -q -f %M -o $t/peak "$TRELLIS" "$@" <"$input" >$out 2>$err
    else
        timeout 60 "$TRELLIS" "$@" <"$input" >$out 2>$err
    fi
    status=$?
    [ $status -eq $wanted ] || complain "trellis $*: exit status $status instead of $wanted"
    if [ -s $t/peak ]; then
        peak=$(tail -n 1 $t/peak)
        [ "$peak" -le $((max * 1024)) ] || complain "trellis $*: $peak kB, more than $max MB"
        rm -f $t/peak
    fi
}

# refused PATTERN MAX_MB ARGUMENT...: fails with a message like PATTERN, using at most MAX_MB of memory
refused() {
    local pattern=$1 max=$2
    shift 2
    within 1 $max "$@"
    grep -qE -- "$pattern" $err || { complain "trellis $*: no '$pattern'"; head -c 500 $err; }
    [ "$(wc -l <$err)" -le 2 ] || complain "trellis $*: more than a sentence"
}

columns $t/train the/O cat/B-X "|" a/O dog/B-X
run 0 train -q -e 3 -f id -m $t/m $t/train

# A training within --memory: many sequences, one long sequence.
awk 'BEGIN { for (i = 0; i < 400000; i++) print "w" (i * 7919) % 100003, i % 3 ? "A" : "B" (i % 20 == 19 ? "\n" : "") }' \
    >$t/many
refused 'tokens alone need more than .* --memory' 90 train -q -e 1 -m $t/x --memory 30M $t/many
# What templates ask for before the data is read.
for words in 'rare(word,1) & word 4' 'learned(lower(word),inside first last) 20'; do
    printf 'columns word label\nnode %s\n' "${words% *}" >$t/words.templates
    refused 'the words that the templates ask for need more than the [0-9]+ MB of --memory' 40 \
        train -q -e 1 -f $t/words.templates -m $t/x --memory ${words##* }M $t/many
done
# Reading fits, laying out the features would not.
seq 60000 | awk '{ print "w" $1 * 7919 % 1000003, "L" $1 % 5 ($1 % 20 ? "" : "\n") }' >$t/distinct
refused 'tokens alone need more than .* --memory' 100 \
    train -q -f pos -t crf --warm-up 0 -e 1 -m $t/x --memory 100M $t/distinct
# Nor would the graph: 50 labels at order 3.
awk 'BEGIN { for (i = 0; i < 5000; i++) print "w" i, "L" i * 7919 % 50 (i % 20 == 19 ? "\n" : "") }' >$t/labels
refused 'the graph would need more than the 100 MB of --memory; use --observed-states' 60 \
    train -q -f id --order 3 -m $t/x --memory 100M $t/labels
tr -s '\n' <$t/many >$t/long
refused 'more than [0-9]+ tokens .*--memory' 90 train -q -e 1 -m $t/x --memory 30M $t/long
run 2 train -q -m $t/x --memory much $t/train
want "a size that is none" grep -q "takes a size such as 500M or 8G, not 'much'" $err

# Sequences and tokens.
yes the | head -n 1000001 >$t/million
refused 'million:1000001: a sequence of more than 1000000 tokens \(--max-length\)' 400 tag -m $t/m $t/million
refused 'long:1001: a sequence of more than 1000 tokens \(--max-length\)' 50 tag -m $t/m --max-length 1000 $t/long
refused 'a sequence of more than 100000 bytes \(--max-sequence\)' 50 tag -m $t/m --max-sequence 100000 $t/long
{ head -c 200000 /dev/zero | tr '\0' x; echo ' O'; } >$t/wide
refused 'wide:1: a token of more than 1024 bytes \(--max-token\)' 50 tag -m $t/m --max-token 1k $t/wide
run 0 tag -m $t/m --max-token 200k $t/wide
for format in wordtag text jsonl crfsuite conllu; do
    yes "x/O " | head -c 30000000 | tr -d '\n' >$t/line
    refused 'max-sequence|max-length|line:1' 400 tag -m $t/m --format $format --max-sequence 1M --max-length 1000 $t/line
done

# Compressed data: a megabyte that becomes a gigabyte, in lines and in one line.
yes 'the O' | head -c 300000000 | gzip -9 >$t/lines.gz
head -c 300000000 /dev/zero | tr '\0' x | gzip -9 >$t/line.gz
refused 'more than 250 times as large \(--max-ratio\)|more than [0-9]+ (tokens|bytes)' 900 tag -m $t/m $t/lines.gz
refused 'a sequence of more than 134217728 bytes|--max-ratio' 400 tag -m $t/m $t/line.gz
refused 'max-ratio|--memory' 100 train -q -m $t/x --memory 50M $t/line.gz
for side in --dictionary "--cost" "--constrain"; do
    refused 'max-file|max-ratio|expected|there is no|lines.gz:' 200 train -q -t mira -e 1 -m $t/x --max-file 1M $side $t/lines.gz $t/train
done
printf 'node word\nnode inlist(word, "line.gz")\n' >$t/list.templates
refused 'more than 1048576 bytes \(--max-file\)' 100 train -q -m $t/x --max-file 1M -f $t/list.templates $t/train
refused 'more than 1048576 bytes' 100 train -q -m $t/x -f $t/line.gz $t/train
# Short lines and long entries, of which more is kept than their bytes; files within --memory.
yes 'a b' | head -c 20000000 >$t/short
head -c 4000 /dev/zero | tr '\0' ' ' | sed 's/  /a /g' >$t/words # 2,000 words
for function in 'node gazetteer' 'segment listed' 'segment similarity'; do
    printf 'node word\n%s(word, "short")\n' "$function" >$t/list.templates
    refused 'more than 16777216 bytes with 32 for each line \(--max-file\)' 80 \
        train -q --segments -m $t/x --max-file 16M -f $t/list.templates $t/train
    refused 'more than 15728640 bytes with 32 for each line \(--max-file, --memory\)' 80 \
        train -q --segments -m $t/x --memory 30M -f $t/list.templates $t/train
    [ "$function" != 'segment listed' ] || continue # keeps the whole alone
    printf 'node word\n%s(word, "words")\n' "$function" >$t/list.templates
    refused 'words:1: an entry of more than 1000 words' 30 train -q --segments -m $t/x -f $t/list.templates $t/train
done
{ echo 'trellis-text 1'; yes '# nothing' | head -c 300000000; } | gzip -9 >$t/model.gz
refused 'more than 250 times as large' 100 import -m $t/x $t/model.gz

# Devices, and a pipe that never ends.
for device in /dev/zero /dev/urandom /dev/full; do
    [ -c $device ] || continue
    refused 'it is a device' 30 tag -m $t/m $device
    refused 'it is a device' 30 train -q -m $t/x --dictionary $device $t/train
    refused 'device|not a regular file' 30 tag -m $device $t/train
done
run 0 tag -m $t/m /dev/null
mkfifo $t/pipe # that nobody writes to: the service must not wait for it, and for no signal but this one
cases=$((cases + 1))
timeout -s KILL 20 "$TRELLIS" serve --listen 127.0.0.1:0 -m x=$t/pipe >$out 2>$err
[ $? -eq 1 ] && grep -q 'pipe: not a model file' $err || complain "a pipe as a model of the service: $(cat $err)"
input=<(tr '\0' x </dev/zero) refused 'a sequence of more than 1048576 bytes' 60 tag -m $t/m --max-sequence 1M -

# Regular expressions: the budget is that of a sequence.
{
    echo columns word
    echo node word
    for i in $(seq 400); do echo "node test(word, /^(a+)+b$i\$/)"; done
} >$t/regex
word=$(head -c 40 /dev/zero | tr '\0' a)
for i in $(seq 20); do echo "$word$i O"; done >$t/evil
refused 'regular expressions .* more than 1000000 steps \(--max-matches\)' 60 \
    train -q -m $t/x -f $t/regex --max-matches 1000000 $t/evil
run 0 train -q -e 1 -m $t/regex.m -f $t/regex $t/train
refused 'regular expressions .* more than 1000000 steps \(--max-matches\)' 60 tag -m $t/regex.m --max-matches 1000000 $t/evil

# n-best lists: no more than there are, and a limit on the rest.
printf 'the\ncat\n' >$t/two
run 0 tag -m $t/m --nbest 1000000 $t/two
for i in $(seq 200); do echo the; done >$t/twohundred
# As many as the default allows, in the memory that SECURITY.md says.
for i in $(seq 100); do echo "w$i"; done >$t/hundred
refused 'more than 10000000 labels \(--max-labellings\)' 30 tag -m $t/m --nbest 100001 $t/hundred
within 0 600 tag -m $t/m --nbest 100000 $t/hundred
refused 'more than 1000 labels \(--max-labellings\)' 60 tag -m $t/m --nbest 1000 --max-labellings 1000 $t/twohundred
finish
