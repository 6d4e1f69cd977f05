# Every page of docs/guide runs as it is written: its ```sh blocks one after the other, in a folder of their own
# with the corpora in data/; a ```text block is what the block before it writes, its numbers within a hundredth,
# because processors round differently. UPDATE=1 writes it anew.
. tests/cli/lib.sh
t=$TRELLIS_TMP
mkdir $t/bin
ln -s "$(realpath "$TRELLIS")" $t/bin/trellis
# A head that reads to the end, so that the command before it does not fail because its reader has gone.
printf '#!/bin/sh\n%s "$@"\nif [ -p /dev/stdin ]; then cat >/dev/null; fi\n' "$(command -v head)" >$t/bin/head
chmod +x $t/bin/head
root=$PWD

# Runs the commands of file $1 in folder $2; what they write goes to $t/written.
run_block() {
    (cd "$2" && PATH=$t/bin:$PATH bash -eu -o pipefail "$1") >$t/written 2>$t/said || {
        complain "$page: these commands fail:"
        cat "$1" $t/said
    }
}

# The page with what its commands really write.
rewrite() {
    local page=$1 folder=$2 kind=prose line
    while IFS= read -r line; do
        case $kind:$line in
        prose:'```sh') kind=commands; : >$t/commands ;;
        commands:'```') kind=prose; run_block $t/commands "$folder" >&2 ;;
        commands:*) printf '%s\n' "$line" >>$t/commands ;;
        prose:'```text') kind=output; printf '%s\n' "$line"; cat $t/written; continue ;;
        output:'```') kind=prose ;;
        output:*) continue ;;
        esac
        printf '%s\n' "$line"
    done <"$page"
}

# The words of a page one a line, each line of the page numbered, and numbers by themselves.
words() {
    awk '{ for (i = 1; i <= NF; i++) print FNR, $i }' "$1" | sed -E 's/([0-9]+(\.[0-9]+)?)/ \1 /g'
}

# Whether two pages say the same.
same() {
    paste -d '\n' <(words "$1") <(words "$2") | awk '
        NR % 2 { split($0, a, " "); n = NF; next }
        { bad = n != NF
          for (i = 1; i <= NF && !bad; i++) {
              gap = a[i] - $i
              near = (gap < 0 ? -gap : gap) <= 0.002 + 0.01 * ($i < 0 ? -$i : $i)
              bad = a[i] != $i && !(a[i] ~ /^[0-9.]+$/ && $i ~ /^[0-9.]+$/ && near)
          }
          if (bad) exit 1 }'
}

for page in docs/guide/*.md; do
    folder=$t/$(basename "$page" .md)
    mkdir "$folder"
    ln -s "$root/data" "$folder/data"
    rewrite "$page" "$folder" >$t/page.md 2>$t/complaints
    if [ -s $t/complaints ]; then
        cat $t/complaints
        failures=$((failures + 1))
    fi
    if [ "${UPDATE:-}" = 1 ]; then
        cp $t/page.md "$page"
    elif ! same "$page" $t/page.md; then
        diff -u "$page" $t/page.md
        complain "$page does not say what happens"
    fi
done
finish
