# Every command of README.md succeeds as it is printed, in a fresh folder that has build/, data/ and a user's train.txt,
# dev.txt and test.txt.
. tests/cli/lib.sh
t=$TRELLIS_TMP
mkdir -p $t/home/build $t/bin
ln -s "$(realpath "$TRELLIS")" $t/home/build/trellis
ln -s "$(realpath "$TRELLIS")" $t/bin/trellis
ln -s "$PWD/data" $t/home/data
for part in train dev test; do
    cut -f 1,3 data/english/$part.conll >$t/home/$part.txt
done

awk '/^```/ { on = !on && /^```$/; next } on && /^(build\/)?trellis |^echo /' README.md >$t/commands
want "README.md has commands" test "$(wc -l <$t/commands)" -ge 15
while IFS= read -r command; do
    cases=$((cases + 1))
    (cd $t/home && PATH=$t/bin:$PATH bash -eu -o pipefail -c "$command") >$out 2>$err </dev/null || {
        complain "README.md: $command"
        tail -n 3 $err
    }
done <$t/commands
finish
