"""What the service answers: the same as the command does, and as /openapi.json describes it."""

import json
import os
import re
import unittest

import jsonschema

from service import Service, columns, main, models, read, sentences, trellis


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = models()
        cls.service = Service(*[word for name, path in cls.files.items() for word in ("-m", f"{name}={path}")])
        cls.description = cls.service.get("/openapi.json").json
        cls.test = columns("data/english/test.conll", "words-test", 0, 2)
        cls.text = read(cls.test)
        cls.tagged_test = columns("data/english/test.conll", "chunks-test", 0, 1, 2)

    @classmethod
    def tearDownClass(cls):
        assert cls.service.end() == 0

    # ---- answers against the description

    def schema(self, method, path, answer):
        """The schema that the description gives for an answer; fails if it gives none."""
        for pattern, operations in self.description["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path.split("?")[0]):
                content = operations[method.lower()]["responses"][str(answer.status)]["content"]
                return content[answer.type]["schema"]
        raise self.failureException(f"{path} is not described")

    def validate(self, schema, value):
        root = {"$schema": "https://json-schema.org/draft/2020-12/schema",
                "components": self.description["components"], **schema}
        jsonschema.Draft202012Validator(root).validate(value)

    def ask(self, method, path, body=None, headers=None, status=200):
        answer = self.service.ask(method, path, body, headers)
        self.assertEqual(answer.status, status, answer.body)
        schema = self.schema(method, path, answer)
        if answer.type in ("application/json", "application/problem+json"):
            self.validate(schema, answer.json)
        return answer

    def tag(self, status=200, **request):
        if status == 200:
            self.validate({"$ref": "#/components/schemas/TagRequest"}, request)
        return self.ask("POST", "/v1/tag", request, status=status).json

    def refused(self, status, words, path="/v1/tag", **request):
        """A request that is refused with a detail that has these words."""
        answer = self.ask("POST", path, request, status=status)
        self.assertEqual(answer.type, "application/problem+json")
        self.assertIn(words, answer.json["detail"])

    def test_description(self):
        """The description is valid in itself, and names what the service has."""
        self.assertEqual(self.description["openapi"], "3.1.0")
        for schema in self.description["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        text = json.dumps(self.description)
        for name in re.findall(r'"#/components/schemas/(\w+)"', text):
            self.assertIn(name, self.description["components"]["schemas"])
        for path, operations in self.description["paths"].items():
            method = "POST" if "post" in operations else "GET"
            answer = self.service.ask("DELETE", path.replace("{name}", "words"))
            self.assertEqual(answer.status, 405, path)
            self.assertIn(method, answer.headers["Allow"])

    # ---- labels

    def test_same_labels_as_the_command(self):
        """All sentences of a file in every form, against trellis tag."""
        for name, file in ("words", self.test), ("chunk", self.tagged_test), ("plain", self.test):
            expected = trellis("tag", "-m", self.files[name], file).decode()
            labels = [[row[-1] for row in rows] for rows in sentences(expected)]
            rows = sentences(read(file))
            by_name = [{"tokens": [row[0] for row in s], **({"pos": [row[1] for row in s]} if name == "chunk" else {})}
                       for s in rows]
            by_position = [{"tokens": s} for s in rows]
            for form in by_name, by_position:
                answer = self.tag(model=name, sequences=form)
                self.assertEqual([s["labels"] for s in answer["sequences"]], labels)
            one = self.tag(model=name, **by_name[0])
            self.assertEqual(one["sequences"][0]["labels"], labels[0])
            self.assertEqual(one["sequences"][0]["tokens"], by_name[0]["tokens"])
            as_text = self.ask("POST", f"/v1/tag?model={name}", read(file).encode(),
                               {"Content-Type": "text/plain"})
            self.assertEqual(as_text.body.decode(), expected)

    def test_columns_in_any_order(self):
        first = self.tag(model="chunk", tokens=["He", "runs"], pos=["PRON", "VERB"])
        second = self.tag(pos=["PRON", "VERB"], tokens=["He", "runs"], model="chunk")
        self.assertEqual(first, second)

    def test_formats(self):
        body = '{"tokens":["The","dog","barks"],"id":7}\n'
        answer = self.ask("POST", "/v1/tag?model=words", body, {"Content-Type": "application/x-ndjson"})
        self.assertEqual(answer.type, "application/x-ndjson")
        self.assertEqual(json.loads(answer.body)["id"], 7)
        inline = self.ask("POST", "/v1/tag?model=words&format=text&output-format=inline", "The dog barks.",
                          {"Content-Type": "text/plain"})
        self.assertIn(b"[NP The dog", inline.body)

    def test_text_has_offsets(self):
        text = "  Über café — naïve\u00a0dogs can't. Then 😀 “they” slept!"
        answer = self.tag(model="words", text=text)
        self.assertGreater(len(answer["sequences"]), 1)
        seen = []
        for sequence in answer["sequences"]:
            for token, (begin, end) in zip(sequence["tokens"], sequence["offsets"]):
                self.assertEqual(text[begin:end], token)
                seen += range(begin, end)
            for span in sequence["spans"]:
                self.assertEqual(span["start_char"], sequence["offsets"][span["start"]][0])
                self.assertEqual(span["end_char"], sequence["offsets"][span["end"] - 1][1])
        self.assertEqual(seen, [i for i, c in enumerate(text) if not c.isspace()])

    def test_spans(self):
        """Against a second implementation: spans of IOB2 labels."""
        for sequence in self.tag(model="words", sequences=[{"text": self.text[:3000]}])["sequences"]:
            spans = []
            for i, label in enumerate(sequence["labels"]):
                if label[0] == "B" or (label[0] == "I" and (i == 0 or sequence["labels"][i - 1][1:] != label[1:])):
                    spans.append([label[2:], i, i + 1])
                elif label[0] == "I":
                    spans[-1][2] = i + 1
            self.assertEqual([[s["type"], s["start"], s["end"]] for s in sequence["spans"]], spans)

    def test_probabilities(self):
        sentence = [row[0] for row in sentences(self.text)[1]]
        answer = self.tag(model="words", tokens=sentence, marginals=True, all_marginals=True, nbest=5)
        sequence = answer["sequences"][0]
        for label, p, every in zip(sequence["labels"], sequence["marginals"], sequence["all_marginals"]):
            self.assertAlmostEqual(sum(every.values()), 1, delta=1e-4)
            self.assertAlmostEqual(every[label], p, delta=1e-5)
        for span in sequence["spans"]:
            self.assertLessEqual(span["probability"], sequence["marginals"][span["start"]] + 1e-5)
        probabilities = [one["probability"] for one in sequence["nbest"]]
        self.assertEqual(sorted(probabilities, reverse=True), probabilities)
        self.assertEqual(len(set(map(tuple, (one["labels"] for one in sequence["nbest"])))), 5)
        self.assertEqual(sequence["nbest"][0]["labels"], sequence["labels"])
        listed = trellis("tag", "-m", self.files["words"], "--nbest", "5", "-", input="\n".join(sentence).encode())
        ranks = [line.split() for line in listed.decode().splitlines() if line.startswith("# ")]
        for mine, theirs in zip(sequence["nbest"], ranks):
            self.assertAlmostEqual(mine["probability"], float(theirs[3]), delta=1e-5)
            self.assertAlmostEqual(mine["score"], float(theirs[2]), delta=1e-4)

    def test_threshold_and_decode(self):
        text = self.text[:2000]
        some = self.tag(model="words", text=text, threshold=0.9, marginals=True)
        every = self.tag(model="words", text=text)
        count = [sum(len(s["spans"]) for s in a["sequences"]) for a in (some, every)]
        self.assertLess(count[0], count[1])
        self.tag(model="words", text=text, decode="posterior")
        self.assertEqual(self.tag(model="words", text=text), every)  # the settings are not remembered

    def test_attributes(self):
        rows = [["w=the"], {"w=dog": 1, "long": 0.5}, [["w=barks", 2.0], "end"]]
        answer = self.tag(model="attributes", attributes=rows)
        self.assertEqual(answer["sequences"][0]["labels"], ["DT", "NN", "VB"])
        with_words = self.tag(model="attributes", tokens=["the", "dog", "barks"], attributes=rows)
        self.assertEqual(with_words["sequences"][0]["tokens"], ["the", "dog", "barks"])

    def test_empty(self):
        self.assertEqual(self.tag(model="words", sequences=[])["sequences"], [])
        self.assertEqual(self.tag(model="words", text="")["sequences"], [])
        self.assertEqual(self.tag(model="words", text=" \n")["sequences"], [])
        self.assertEqual(self.tag(model="words", tokens=[])["sequences"][0]["labels"], [])

    # ---- mistakes

    def test_mistakes(self):
        refused = self.refused
        refused(400, 'did you mean "nbest"', tokens=["a"], nbset=3)
        refused(400, "from 1 to 100", tokens=["a"], nbest=101)
        refused(400, "from 1 to 100", tokens=["a"], nbest=2.5)
        refused(400, "true or false", tokens=["a"], marginals=1)
        refused(400, "from 0 to 1", tokens=["a"], threshold=1.5)
        refused(400, "viterbi", tokens=["a"], decode="fast")
        refused(400, "threshold", tokens=["a"], nbest=2, threshold=0.5)
        refused(400, "needs", model="words")
        refused(400, "not both", text="a", tokens=["a"])
        refused(400, "is not a string", tokens=["a", 1])
        refused(400, "is not a string", tokens=["a", ["b"]])
        refused(400, "array of 2 strings", tokens=[["a", "b"], ["c"]])
        refused(400, "array of 2 strings", tokens=["a", "b"], pos=["c"], model="plain")
        refused(400, "sequences[1]", sequences=[{"tokens": ["a"]}, {"tokens": 1}])
        refused(400, "sequences[0]", sequences=[7])
        refused(400, "must be a string", text=7)
        refused(404, "no model named 'nobody'", model="nobody", tokens=["a"])
        refused(422, "column 2 (pos)", model="chunk", text="The dog barks.")
        refused(422, "column 2 (pos)", model="chunk", tokens=["a"])
        refused(422, 'not trained on a column "posse"', model="chunk", tokens=["a"], posse=["b"])
        refused(422, "no probabilities", model="plain", tokens=["a"], marginals=True)
        refused(422, "ready-made attributes", model="attributes", tokens=["a"])
        refused(422, "makes its attributes from columns", model="words", attributes=[["w=a"]])
        refused(400, "an attribute is", model="attributes", attributes=[[1]])
        refused(400, "an attribute is", model="attributes", attributes=[[["a", "b"]]])
        refused(413, "60", path="/v1/trellis", model="words", tokens=["a"] * 61)
        refused(413, "1000", path="/v1/explain", model="words", tokens=["a"] * 1001)

    def test_text_mistakes(self):
        def refused(status, words, query, body, kind="text/plain"):
            answer = self.ask("POST", "/v1/" + query, body, {"Content-Type": kind}, status)
            self.assertIn(words, answer.json["detail"])
        refused(400, "'nbest' is not a parameter", "tag?model=words&nbest=3", "a\n")
        refused(404, "no model named", "tag?model=nobody", "a\n")
        refused(400, "compressed", "tag?model=words", b"\x1f\x8b\x08\x00\x00\x00")
        refused(400, "UTF-8", "tag?model=words", b"\xff\xfe\n")
        refused(422, "format=text", "tag?model=words", "The dog barks at the man .\n")
        refused(422, "column 2", "tag?model=chunk", "The\ndog\n")
        refused(422, "format=crfsuite", "tag?model=attributes&format=columns", "The\ndog\n")
        refused(415, "gold labels", "evaluate", {"tokens": ["a"]}, "application/json")
        refused(400, "label column", "evaluate?model=words", "a\nb\n")
        refused(422, "no gold labels", "evaluate?model=words&label=none", "a\nb\n")
        refused(422, "none of the gold labels", "evaluate?model=words", "a X\nb Y\n")
        refused(422, "nothing to score", "evaluate?model=words", "")
        self.ask("POST", "/v1/explain", "a\n", {"Content-Type": "text/plain"}, 415)

    # ---- the other endpoints

    def test_explain(self):
        request = {"model": "words", "tokens": ["The", "dog", "barks"], "top": 1000}
        tokens = self.ask("POST", "/v1/explain", request).json["sequences"][0]["tokens"]
        self.assertEqual([t["word"] for t in tokens], request["tokens"])
        for token in tokens:
            total = sum(c["predicted"] - c["runner_up"] for c in token["contributions"])
            self.assertAlmostEqual(total, token["margin"], delta=1e-3)
        labels = self.tag(model="words", tokens=request["tokens"])["sequences"][0]["labels"]
        self.assertEqual([t["label"] for t in tokens], labels)

    def test_trellis(self):
        picture = self.ask("POST", "/v1/trellis", {"model": "words", "text": "The dog barks."})
        self.assertEqual(picture.type, "image/svg+xml")
        self.assertTrue(picture.body.startswith(b"<svg"))
        self.assertEqual(picture.body, trellis("show", "-m", self.files["words"], "--top", "5", "--words",
                                               "The dog barks ."))

    def test_evaluate(self):
        body = self.text.encode()
        scores = self.ask("POST", "/v1/evaluate?model=words", body, {"Content-Type": "text/plain"}).json
        theirs = json.loads(trellis("eval", "--json", "-m", self.files["words"], self.test))
        for name in "tokens", "accuracy", "f1", "spans_correct":
            self.assertEqual(scores[name], theirs[name])

    def test_models(self):
        listed = self.ask("GET", "/v1/models").json["models"]
        self.assertEqual([m["name"] for m in listed], list(self.files))
        by_name = {m["name"]: m for m in listed}
        self.assertEqual([c["name"] for c in by_name["chunk"]["columns"]], ["word", "pos", "chunk"])
        self.assertEqual([c["used"] for c in by_name["chunk"]["columns"]], [True, True, False])
        self.assertTrue(by_name["words"]["probabilities"])
        self.assertFalse(by_name["plain"]["probabilities"])
        self.assertTrue(by_name["attributes"]["attributes"])
        self.assertFalse(by_name["attributes"]["spans"])
        self.assertEqual(by_name["words"]["bytes"], os.path.getsize(self.files["words"]))
        info = self.ask("GET", "/v1/models/words").json
        self.assertEqual(info, json.loads(trellis("info", "--json", self.files["words"])))
        self.ask("GET", "/v1/models/nobody", status=404)

    def test_health(self):
        self.assertEqual(self.ask("GET", "/health").json["status"], "ok")
        self.assertEqual(self.ask("GET", "/ready").json["status"], "ready")
        head = self.service.ask("HEAD", "/health")
        self.assertEqual((head.status, head.body), (200, b""))

    def test_metrics(self):
        before = self.service.metric("trellis_tokens_total")
        self.tag(model="words", tokens=["a"] * 7)
        self.assertEqual(self.service.metric("trellis_tokens_total"), before + 7)
        text = self.ask("GET", "/metrics").body.decode()
        line = re.compile(r'# (HELP|TYPE) trellis_\w+ .*|trellis_\w+(\{(\w+="[^"]*",?)*\})? [-+.\de]+')
        for text_line in text.splitlines():
            self.assertRegex(text_line, line)
        buckets = [float(value) for value in
                   re.findall(r'trellis_request_duration_seconds_bucket\{endpoint="tag".*\} (\d+)', text)]
        self.assertEqual(buckets, sorted(buckets))
        count = re.search(r'duration_seconds_count\{endpoint="tag"\} (\d+)', text)
        self.assertEqual(float(count[1]), buckets[-1])

    # ---- the page

    def test_page(self):
        page = self.service.get("/")
        self.assertEqual((page.status, page.type), (200, "text/html"))
        policy = page.headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        text = page.body.decode()
        for name in re.findall(r'(?:src|href)="([^"#]+)"', text):
            self.assertNotRegex(name, r"^(\w+:)?//")
            self.assertEqual(self.service.get("/" + name).status, 200, name)
        for name in os.listdir("serve/page"):
            self.assertEqual(self.service.get("/" + name).body, read("serve/page/" + name).encode())
        for name in "/nothing", "/../serve.h", "/%2e%2e/serve.h", "/page/index.html", "/v1", "/v1/tag/":
            self.assertIn(self.service.get(name).status, (404, 405), name)


if __name__ == "__main__":
    main()
