# From a file to a report in two commands, and the report in a browser: what a person would look for is there,
# it works, and it asks nothing of a network.
. tests/report/browser.sh
t=$TRELLIS_TMP
english="--columns word,pos,chunk,entity --label chunk"
run 0 train -q -t crf -f chunk $english -m $t/chunk.model data/english/train.conll
run 0 report -m $t/chunk.model $english data/english/test.conll -o $t/report.html
run 0 eval -m $t/chunk.model $english --json data/english/test.conll
cp $out $t/eval.json
want "it is small" test "$(stat -c %s $t/report.html)" -lt 300000
want "it names no other address" test "$(grep -coE '(src|href)="(https?:)?//' $t/report.html)" = 0
run 0 report -m $t/chunk.model $english -j 3 data/english/test.conll
want "the same with threads and to standard output" cmp $out $t/report.html

run 0 train -q -t perceptron -e 4 -f chunk $english -m $t/other.model data/english/train.conll
run 0 report -m $t/chunk.model --against $t/other.model data/english/test.conll -o $t/both.html
run 0 eval -m $t/chunk.model --against $t/other.model --bootstrap 1000 --json data/english/test.conll
cp $out $t/both.json

check report_no_model 2 report data/english/test.conll
check report_no_labels 1 report -m $t/chunk.model --label none --columns word,pos,chunk,entity data/english/test.conll -o $t/none.html
want "no page without data" test ! -e $t/none.html

# Other models: no probabilities, one pass of counting, no errors at all, hostile texts.
run 0 train -q -t perceptron -e 4 --label 2 -f id -m $t/perceptron data/english/train.conll
run 0 report -m $t/perceptron --label 2 data/english/test.conll --errors 3 -o $t/perceptron.html
run 0 train -q -t hmm --label 2 -f id -m $t/hmm data/english/train.conll
run 0 report -m $t/hmm --label 2 data/english/test.conll -o $t/hmm.html
columns $t/small a/X b/Y a/X
run 0 train -q -t crf -m $t/small.model $t/small
run 0 report -m $t/small.model $t/small -o $t/right.html
printf '%s\n' '</script><script>document.title="taken"</script> <b>' '<!--<script> "x' "'\\u003c/script> </title>" '&lt;img/src=x> <b>' '' \
    '{{DATA}} <b>' '__proto__ constructor' '</script> "x' >$t/hostile
run 0 train -q -t crf -m "$t/<b>&.model" $t/hostile
sed 's| <b>$| </title>|' $t/hostile >$t/hostile.test
run 0 report -m "$t/<b>&.model" $t/hostile.test -o $t/hostile.html

need_browser
check_requests

page $t/report.html
want "no request leaves the page" test ! -s $requests
want "all was drawn" grep -q 'data-drawn="yes"' $dom
want "no error was told" grep -qE '<p id="problem"[^>]* hidden' $dom
for heading in Summary Training Labels 'Spans and thresholds' 'Confusion matrix' Calibration Features Transitions Errors; do
    want "a part on $heading" grep -q "<h2>$heading</h2>" $dom
done
f1=$(grep -m 1 -oE '"f1": [0-9.]+' $t/eval.json | awk '{ printf "%.2f %%", 100 * $2 }')
want "the F1 of trellis eval, $f1" grep -qF "<dt>Span F1</dt><dd>$f1<" $dom
tokens=$(grep -oE '"tokens_correct": [0-9]+' $t/eval.json | grep -oE '[0-9]+')
want "as many correct tokens" test "$(grep -oE '[0-9,]+ of [0-9,]+</small>' $dom | tr -d , | grep -c "^$tokens of ")" -ge 1
wrong=$(grep -oE '"sequences(_correct)?": [0-9]+' $t/eval.json | awk '{ n = $2 - n } END { print -n }')
want "$wrong sentences with errors" grep -qF "$wrong sentences with errors" $dom
want "no comparison without a second model" test "$(occurrences '<h2>Two models</h2>')" = 0
interval=$(python3 -c 'import json,sys; i=json.load(open(sys.argv[1]))["first"]["intervals"]["f1"]; print("95 %%: %.2f–%.2f" % (100*i[0], 100*i[1]))' $t/both.json)
want "the interval of the F1, $interval" grep -qF "$interval" $dom
outcome=$(python3 -c 'import json,sys; print([r["gold"] for r in json.load(open(sys.argv[1]))["first"]["spans_by_outcome"] if r["outcome"]=="wrong boundaries"][0])' $t/both.json)
want "$outcome spans with wrong boundaries" grep -qE "wrong boundaries</th><td>$outcome<" $dom
threshold=$(python3 -c 'import json,sys; print("%.2f %%" % (100*[r for r in json.load(open(sys.argv[1]))["first"]["by_threshold"] if r["threshold"]=="0.9"][0]["precision"]))' $t/both.json)
want "the precision at 0.9, $threshold" grep -qE "<th scope=\"row\">0.9</th><td>[0-9,]+</td><td>$threshold<" $dom
want "each table has headings" test "$(occurrences '<th scope="col"')" -gt 40
want "pictures have a name" test "$(occurrences '<svg[^>]*role="img"[^>]*aria-label=')" -ge 3

# It can be used: the cell of a confusion shows its sentences, by mouse or keyboard; filters count correctly.
page $t/report.html '
  var button = document.querySelector("#confusion td.wrong button"), label = button.getAttribute("aria-label");
  say("label", label);
  button.click();
  say("hits", document.querySelectorAll("#errors .token.hit").length, button.textContent);
  document.querySelector("#errors .reset").click();
  say("all", document.querySelectorAll("#errors li").length);
  say("titles", document.querySelector("#errors .token").title);
  var which = document.getElementById("which");
  which.value = 1; which.dispatchEvent(new Event("change"));
  say("features", document.querySelectorAll("#features .scroll").length, document.querySelector("#features caption").textContent);
  say("focusable", document.querySelectorAll("button, select, a[href], summary, [tabindex]").length);
  say("wide", document.documentElement.scrollWidth <= document.documentElement.clientWidth);
  say("problem", document.getElementById("problem").hidden);
  function luminance(c) { return c.match(/[\d.]+/g).slice(0, 3).map(function (v) { v /= 255;
    return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }).reduce(function (s, v, i) { return s + v * [0.2126, 0.7152, 0.0722][i]; }, 0); }
  var paper = luminance(getComputedStyle(document.documentElement).backgroundColor), least = 99;
  [].forEach.call(document.querySelectorAll("h2, p.note, a, caption, th, td, dt, dd small, figcaption"), function (e) {
    var ink = luminance(getComputedStyle(e).color), high = Math.max(ink, paper), low = Math.min(ink, paper);
    least = Math.min(least, (high + 0.05) / (low + 0.05)); });
  say("contrast", least >= 4.5, least.toFixed(1));'
want "the sentences of a confusion" awk '$1 == "hits" { exit !($2 > 0 && $2 == $3) }' $said
want "all errors again" awk -v n="$wrong" '$1 == "all" { exit !($2 == (n < 25 ? n : 25)) }' $said
want "the features of another label" grep -q '^features [2-5] Positive weights for' $said
want "things to reach by keyboard" awk '$1 == "focusable" { exit !($2 > 20) }' $said
want "nothing is wider than the page" grep -q '^wide true' $said
want "texts stand out from the paper" grep -q '^contrast true' $said
want "no error while it was used" grep -q '^problem true' $said
want "no error of the script" test "$(grep -c 'SCRIPT ERROR' $said)" = 0

# Order: the error that the model is surest of comes first.
page $t/report.html '
  var order = document.getElementById("order");
  order.value = "surest"; order.dispatchEvent(new Event("change"));
  function probabilities(item) { return [].map.call(item.querySelectorAll(".token.bad"), function (e) { return Number(e.title.match(/probability (\d+)/)[1]); }); }
  var items = [].slice.call(document.querySelectorAll("#errors li")).map(function (item) { return Math.max.apply(null, probabilities(item)); });
  say("sorted", items.length > 3 && items.every(function (p, i) { return i === 0 || p <= items[i - 1]; }), items[0] > items[items.length - 1]);
  order.value = "least"; order.dispatchEvent(new Event("change"));
  items = [].slice.call(document.querySelectorAll("#errors li")).map(function (item) {
    return Math.min.apply(null, [].map.call(item.querySelectorAll(".token"), function (e) { return Number(e.title.match(/probability (\d+)/)[1]); })); });
  say("least", items.every(function (p, i) { return i === 0 || p >= items[i - 1]; }));
  [].forEach.call(document.querySelectorAll("svg.chart text"), function (text) {
    var size = parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width;
    if (size > 16) say("large", size); });'
want "errors in the order of confidence" grep -q '^sorted true true' $said
want "sentences in the order of doubt" grep -q '^least true' $said
want "no text of a chart is larger than that of the page" test "$(grep -c '^large' $said)" = 0

# Two models side by side.
page $t/both.html '
  say("rows", document.querySelectorAll("#comparison table")[0].querySelectorAll("tbody tr").length);
  say("f1", document.querySelector("#comparison tbody tr:last-child").textContent);
  var who = document.getElementById("who");
  ["only first", "only second", "both"].forEach(function (value) {
    who.value = value; who.dispatchEvent(new Event("change"));
    while (!document.querySelector("#errors .more").hidden) document.querySelector("#errors .more").click();
    say("tokens", value, document.querySelectorAll("#errors .token.hit").length);
  });
  say("problem", document.getElementById("problem").hidden, document.documentElement.scrollWidth <= document.documentElement.clientWidth);'
want "five measures" grep -q '^rows 5$' $said
want "F1 of both" grep -qF "F1$(python3 -c 'import json,sys; c=json.load(open(sys.argv[1]))["comparison"]["f1"]; print("%.2f %%%.2f %%" % (100*c["first"], 100*c["second"]))' $t/both.json)" $said
only=$(python3 -c 'import json,sys; c=json.load(open(sys.argv[1]))["comparison"]; print(c["only_second"], c["only_first"])' $t/both.json)
want "tokens that one of them has wrong" test "$(awk '$1 == "tokens" && $2 == "only" { printf "%s ", $4 }' $said)" = "$only "
want "no error while models were compared" grep -q '^problem true true' $said

for name in perceptron hmm right; do
    page $t/$name.html
    want "$name: all was drawn" grep -q 'data-drawn="yes"' $dom
    want "$name: no error was told" grep -qE '<p id="problem"[^>]* hidden' $dom
done
page $t/perceptron.html
want "no probabilities" grep -q 'has no probabilities' $dom
want "it says how many errors are left out" grep -qE 'The page holds 3 of the [0-9]+ sentences' $dom
page $t/right.html
want "no errors" grep -q 'There are none' $dom

# Whatever words, labels and names are, they are text.
page $t/hostile.html '
  say("title", document.title);
  say("scripts", document.scripts.length, "bold", document.querySelectorAll("b, img").length);
  say("words", [].some.call(document.querySelectorAll("#errors .token"), function (e) { return e.textContent.indexOf("<\/script><script>") === 0; }));
  say("problem", document.getElementById("problem").hidden, document.documentElement.dataset.drawn);'
want "the title is what the files are called" grep -qF '<b>&.model on hostile.test' $said
want "no scripts but those of the page and of the test" grep -q '^scripts 3 bold 0$' $said
want "the words are shown as they are" grep -q '^words true' $said
want "all of it was drawn" grep -q '^problem true yes' $said
want "no request" test ! -s $requests
finish
