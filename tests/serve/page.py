"""The page of the service in a real browser: tagging, alternatives, explanations, two models, corrections, files.

With TRELLIS_SCREENSHOTS=FOLDER it also leaves pictures of what a person sees.
"""

import json
import os
import sys
import unittest

import browser
from service import Service, TMP, models, read, sentences

SENTENCE = "The ferry may book a record light in Ghent."


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.paths = models()
        cls.service = Service(*[word for name, path in cls.paths.items() for word in ("-m", f"{name}={path}")])
        cls.address = f"http://127.0.0.1:{cls.service.port}/"

    @classmethod
    def tearDownClass(cls):
        assert cls.service.end() == 0

    def setUp(self):
        self.page = self.visit()

    def visit(self, **more):
        page = browser.Browser(**more)
        self.addCleanup(page.close)
        page.open(self.address)
        page.wait("document.querySelector('#model').options.length === 4")
        return page

    def tearDown(self):
        self.assertEqual(self.page.problems, [])
        others = [url for url in self.page.requests if not url.startswith((self.address, "blob:", "data:"))]
        self.assertEqual(others, [], "nothing is loaded from elsewhere")

    def picture(self, page, name):
        folder = os.environ.get("TRELLIS_SCREENSHOTS")
        if folder:
            page.screenshot(os.path.join(folder, name + ".png"))

    def tag(self, text=SENTENCE, model="words", kind="text", page=None):
        page = page or self.page
        page.run(f"""(() => {{ const m = document.querySelector('#model'); m.value = {json.dumps(model)}; m.dispatchEvent(new Event('change'));
            document.querySelector('#kind').value = {json.dumps(kind)}; document.querySelector('#text').value = ''; }})()""")
        page.click("#text")
        page.type(text)
        page.click("button.main")
        page.wait("document.querySelectorAll('#sentences .word').length && !document.querySelector('#status').textContent.includes('…')")

    def spans(self):
        return self.page.run("""[...document.querySelectorAll('#sentences .words:not(.other) .span')].map((s) =>
            [s.querySelector('.type').firstChild.textContent, [...s.querySelectorAll('.word')].map((w) => w.textContent).join(' ')])""")

    # ---- reading

    def test_labels_are_those_of_the_service(self):
        self.tag()
        answer = self.service.tag(model="words", text=SENTENCE, marginals=True).json["sequences"][0]
        expected = [[s["type"], " ".join(answer["tokens"][s["start"]:s["end"]])] for s in answer["spans"]]
        self.assertEqual(self.spans(), expected)
        self.assertIn(f"probability {100 * answer['spans'][0]['probability']:.1f} %", self.page.run("document.querySelector('.span').title"))
        self.picture(self.page, "labels")

    def test_alternatives_one_after_the_other(self):
        self.tag()
        answer = self.service.tag(model="words", text=SENTENCE, nbest=5).json["sequences"][0]["nbest"]
        self.page.click("button[aria-label='Next best labelling']")
        self.page.wait("document.querySelector('.bar').textContent.includes('labelling 2 of 5')")
        expected = [[s["type"]] for s in answer[1]["spans"]]
        self.assertEqual([[kind] for kind, _ in self.spans()], expected)
        self.page.click("button[aria-label='Better labelling']")
        self.page.wait("document.querySelector('.bar').textContent.includes('labelling 1 of 5')")

    def test_why_and_the_trellis(self):
        self.tag()
        self.page.click(".word[data-token='1']")
        self.page.wait("!document.querySelector('#why').hidden")
        why = self.service.ask("POST", "/v1/explain", {"model": "words", "text": SENTENCE, "top": 12}).json["sequences"][0]["tokens"][1]
        text = self.page.text("#explanation")
        self.assertIn(f"ferry is {why['label']}", text)
        for item in why["contributions"]:
            name = item.get("attribute") or " → ".join(item["transition"])
            self.assertIn(name, text)
        self.page.click(".bar button:last-of-type")
        self.page.wait("document.querySelector('#drawing img')?.naturalWidth > 100")
        self.picture(self.page, "why")

    def test_two_models_side_by_side(self):
        self.page.run("document.querySelector('#other').value = 'plain'")
        text = "\n".join(" ".join(row[0] for row in rows) for rows in sentences(read("data/english/test.conll"))[:30])
        self.tag(text)
        labels = [[label for tagged in self.service.tag(model=name, text=text).json["sequences"] for label in tagged["labels"]]
                  for name in ("words", "plain")]
        differ = sum(a != b for a, b in zip(*labels))
        self.assertGreater(differ, 0)
        self.assertIn(f"{differ} label", self.page.text("#status"))
        self.assertEqual(self.page.run("document.querySelectorAll('.words:not(.other) .differs').length"), differ)
        self.picture(self.page, "two")

    def test_example_only_where_the_model_reads_text(self):
        def choose(name):
            return self.page.run(f"""(() => {{ const m = document.querySelector('#model'); m.value = {json.dumps(name)};
                m.dispatchEvent(new Event('change')); return document.querySelector('#text').value; }})()""")
        example = choose("words")
        self.assertIn("ferry", example)
        self.assertEqual(choose("chunk"), "")
        self.assertEqual(choose("words"), example)
        self.page.run("document.querySelector('#text').value = 'My own.'")
        self.assertEqual(choose("chunk"), "My own.")

    def test_columns_and_json(self):
        self.tag("The DT\nferry NN\n\nIt PRP\n", model="chunk", kind="columns")
        self.assertEqual(self.page.run("document.querySelectorAll('.sentence').length"), 2)
        self.tag('{"attributes": [["w=the"], ["w=dog"]]}', model="attributes", kind="json")
        self.assertEqual(self.page.run("[...document.querySelectorAll('.span .type')].map((t) => t.firstChild.textContent)"), ["DT", "NN"])
        self.page.run("document.querySelector('#text').value = '{'")
        self.page.click("button.main")
        self.page.wait("document.querySelector('#status.problem')")

    def test_a_problem_is_told(self):
        self.page.run("""(() => { const m = document.querySelector('#model'); m.value = 'chunk'; m.dispatchEvent(new Event('change'));
            document.querySelector('#kind').value = 'text'; })()""")
        self.page.click("button.main")
        self.page.wait("document.querySelector('#status.problem')")
        self.assertIn("pos", self.page.text("#status"))
        self.page.problems = [p for p in self.page.problems if "422" not in p]

    def test_markup_stays_text(self):
        self.tag("<b>x</b> <img src=x onerror=alert(1)> & more")
        self.assertEqual(self.page.run("document.querySelectorAll('#sentences b, #sentences img').length"), 0)
        self.assertIn("onerror", self.page.text("#sentences"))

    # ---- correcting

    def test_correct_with_the_mouse(self):
        self.tag()
        self.page.drag(".word[data-token='1']", ".word[data-token='2']")
        self.page.wait("document.querySelectorAll('.word[aria-selected=true]').length === 2")
        self.page.run("[...document.querySelectorAll('#toolbar .type')].find((b) => b.textContent.startsWith('VP')).id = 'vp'")
        self.page.click("#vp")
        self.page.wait("document.querySelector('#corrected').textContent.startsWith('1 corrected')")
        self.assertIn(["VP", "ferry may"], self.spans())
        self.assertEqual(self.saved("save-columns").split("\n")[:4], ["The\tB-NP", "ferry\tB-VP", "may\tI-VP", "book\tB-VP"])
        line = json.loads(self.saved("save-jsonl"))
        self.assertEqual(line["tokens"][:3] + line["labels"][:3], ["The", "ferry", "may", "B-NP", "B-VP", "I-VP"])
        self.picture(self.page, "corrected")
        self.page.open(self.address)
        self.page.wait("document.querySelector('#corrected').textContent.startsWith('1 corrected')")
        self.page.click("#forget")
        self.page.wait("document.querySelector('#corrected').textContent.startsWith('None')")

    def test_correct_with_the_keyboard(self):
        self.tag()
        self.page.run("document.querySelector('.word[data-token=\"0\"]').focus()")
        for key, shift in (("ArrowRight", False), ("ArrowRight", True), ("2", False)):
            self.page.key(key, shift)
        self.page.wait("document.querySelector('#corrected').textContent.startsWith('1 corrected')")
        second = self.page.run("document.querySelectorAll('#toolbar .type')[1].firstChild.textContent")
        self.assertIn([second, "ferry may"], self.spans())
        self.page.key("Delete")
        self.page.wait("!document.querySelector('.word[data-token=\"2\"]').closest('.span')")
        self.assertIn([second, "ferry"], self.spans())
        self.page.key("Escape")
        self.page.wait("document.querySelector('#toolbar').hidden")
        self.page.run("document.querySelector('#forget').click()")

    def saved(self, button):
        """What a button downloads."""
        self.page.run("""(() => { window.kept = null; const original = URL.createObjectURL;
            URL.createObjectURL = (blob) => { blob.text().then((t) => { window.kept = t; }); return original(blob); }; HTMLAnchorElement.prototype.click = () => {}; })()""")
        self.page.click("#" + button)
        self.page.wait("window.kept !== null")
        return self.page.run("window.kept")

    def test_a_file_is_listed_by_doubt(self):
        path = os.path.join(TMP, "some.txt")
        lines = ["The ferry may book a record light.", "He said it.", "Prices of the record may light a book in may."]
        with open(path, "w") as file:
            file.write("\n".join(lines))
        self.page.run("document.querySelector('#model').value = 'words'")
        self.page.files("#file", path)
        self.page.wait("document.querySelectorAll('#list li').length === 3")
        margins = {}
        for line in lines:
            best, second = self.service.tag(model="words", text=line, nbest=2).json["sequences"][0]["nbest"]
            margins[line] = best["probability"] - second["probability"]
        order = [lines[n - 1] for n in self.page.run("[...document.querySelectorAll('#list li')].map((item) => item.value)")]
        self.assertEqual(order, sorted(lines, key=margins.get))
        self.page.click("#list button")
        self.page.wait("document.querySelectorAll('#sentences .word').length")
        self.assertEqual(self.page.text("#sentences .word"), order[0].split()[0])
        self.picture(self.page, "file")

    # ---- everyone

    def test_names_roles_and_widths(self):
        unnamed = """[...document.querySelectorAll('input, select, textarea, button')].filter((e) => !e.labels?.length && !e.textContent.trim()
            && !e.getAttribute('aria-label')).map((e) => e.id)"""
        for width, dark in ((1100, False), (1100, True), (390, False)):
            page = self.visit(width=width, height=900, dark=dark)
            self.tag(page=page)
            page.click(".word[data-token='1']")
            page.wait("!document.querySelector('#why').hidden")
            self.assertEqual(page.run(unnamed), [])
            self.assertTrue(page.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), f"too wide at {width}")
            self.assertGreaterEqual(page.run(CONTRAST), 4.5, f"contrast, {'dark' if dark else 'light'}")
            self.assertEqual(page.problems, [])
            self.picture(page, f"page-{width}-{'dark' if dark else 'light'}")


# The least contrast of texts with what is behind them.
CONTRAST = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const over = (front, back) => { const a = front[3] / 255; return [0, 1, 2].map((i) => front[i] * a + back[i] * (1 - a)).concat([255]); };
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => (e ? over(rgba(getComputedStyle(e).backgroundColor), behind(e.parentElement)) : [255, 255, 255, 255]);
  let least = 99;
  for (const e of document.querySelectorAll('h1, h2, p, label, button:not(:disabled), .word, .type, td, th, caption, .bar')) {
    if (!e.offsetParent) continue;
    const a = light(over(rgba(getComputedStyle(e).color), behind(e))), b = light(behind(e));
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()"""

if __name__ == "__main__":
    if not browser.find():
        print("skipped: no Chromium was found to open pages with")
        sys.exit(77)
    unittest.main(verbosity=1)
