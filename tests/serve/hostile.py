"""Hostile requests: JSON of any shape, every truncation, bytes that are no HTTP. After each group the
service still gives the right answer, and no request is ever answered with 500."""

import json
import random
import socket
import unittest

from service import Service, main, models

GOOD = {"model": "words", "sequences": [{"text": "The dog barks."}, {"tokens": ["Then", "it", "slept"]}],
        "marginals": True, "nbest": 2}


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        files = models()
        cls.service = Service(*[word for name, path in files.items() for word in ("-m", f"{name}={path}")],
                              "--client-timeout", "60")
        cls.right = cls.service.ask("POST", "/v1/tag", GOOD).body

    def setUp(self):
        self.link = self.service.connect()
        self.addCleanup(self.link.close)

    @classmethod
    def tearDownClass(cls):
        assert cls.service.end() == 0

    def tearDown(self):
        self.assertEqual(self.service.ask("POST", "/v1/tag", GOOD).body, self.right)

    def ask(self, body, path="/v1/tag", kind="application/json"):
        answer = self.service.ask("POST", path, body, {"Content-Type": kind}, self.link)
        self.assertIn(answer.status, (200, 400, 404, 413, 415, 422), (body[:200], answer.body[:200]))
        answer.body.decode()
        if answer.type.endswith("+json") or answer.type == "application/json":
            json.loads(answer.body)
        return answer

    # ---- JSON

    def test_depth(self):
        for deep in 100, 3000, 200000:
            for opening, closing in ("[", "]"), ('{"tokens":', "}"), ('{"sequences":[', "]}"):
                self.assertIn(self.ask(opening * deep).status, (400, 413))
                self.assertIn(self.ask(opening * deep + "1" + closing * deep).status, (400, 413))

    def test_types(self):
        """Every kind of value in the place of every value of a request."""
        values = [None, True, 0, -1, 1.5, 1e308, "", "x", [], [[]], [None], ["a"], [["a"]], [1], {}, {"a": 1}, [{}],
                  {"tokens": ["a"]}, [["a", "b"], ["c"]], "\u0000", "😀"]
        names = ["model", "text", "tokens", "attributes", "sequences", "marginals", "all_marginals", "nbest",
                 "threshold", "decode", "top", "pos", "labels", "id", "weight", ""]
        for path in "/v1/tag", "/v1/explain", "/v1/trellis":
            for name in names:
                for value in values:
                    for request in {name: value}, {"tokens": ["a", "b"], name: value}, {"sequences": [{name: value}]}:
                        self.ask(json.dumps(request), path)

    def test_bytes(self):
        """Invalid UTF-8, lone surrogates, zero bytes: refused, and never in an answer."""
        for bad in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80", b"\x00",
                    rb"\ud800", rb"\udc00\ud800", rb"\u0000", rb"\u12", rb"\x41", b"\n", b"\x1f"):
            for frame in b'{"text":"a%sb"}', b'{"tokens":["a%sb"]}', b'{"a%sb":["c"],"tokens":["d"]}', b'{"model":"%s"}':
                self.assertNotEqual(self.ask(frame % bad).status, 200, (frame, bad))
        for fine in rb"\ud83d\ude00", "é😀".encode(), rb"\"\\\/\b", rb"\u007f":
            answer = self.ask(b'{"tokens":["a%sb"]}' % fine)
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.json["sequences"][0]["tokens"], json.loads(b'["a%sb"]' % fine))

    def test_duplicates_and_numbers(self):
        self.assertEqual(self.ask('{"tokens":["a"],"tokens":["b"]}').status, 400)
        for number in "1e999", "-0", "99999999999999999999", "0x1", "NaN", "Infinity", "1.", "+1":
            self.assertNotEqual(self.ask('{"tokens":["a"],"nbest":%s}' % number).status, 200)
            self.ask('{"model":"attributes","attributes":[{"a":%s}]}' % number)

    def test_truncated_json(self):
        whole = json.dumps(GOOD).encode()
        for size in range(len(whole)):
            self.assertEqual(self.ask(whole[:size]).status, 400, whole[:size])

    def test_changed_json(self):
        random.seed(1)
        whole = json.dumps(GOOD).encode()
        for _ in range(3000):
            body = bytearray(whole)
            for _ in range(random.randint(1, 4)):
                at = random.randrange(len(body))
                body[at:at + random.randint(0, 2)] = bytes([random.randrange(256)]) * random.randint(0, 2)
            self.ask(bytes(body))

    def test_text(self):
        random.seed(2)
        for kind in "columns", "conllu", "crfsuite", "wordtag", "jsonl", "text", "nonsense":
            for model in "words", "chunk", "attributes":
                for body in b"", b"\n", b"\xef\xbb\xbf", b"a\tb\n" * 50, b"a/b " * 20, b"{}\n", b"\0", b"1\ta\n", \
                        b"a" * 100000, b"# x\n", random.randbytes(300), b"-\n-\n":
                    for end in "tag", "evaluate":
                        self.ask(body, f"/v1/{end}?model={model}&format={kind}", "text/plain")

    # ---- HTTP

    def send(self, data, close=True):
        """What comes back for these bytes. A client that has half closed the connection may have to wait for its
        time to be up; that is too long here."""
        with socket.create_connection((self.service.host, self.service.port), 0.3 if close else 30) as link:
            received = b""
            try:
                link.sendall(data)
                if close:
                    link.shutdown(socket.SHUT_WR)
                while part := link.recv(65536):
                    received += part
            except OSError:
                pass
        self.assertNotIn(b"HTTP/1.1 500", received)
        return received

    def request(self, body=b'{"tokens":["a"]}', more=b""):
        return (b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s"
                % (more, len(body), body))

    def test_truncated_requests(self):
        whole = self.request()
        for size in range(len(whole)):
            self.assertNotIn(b"200 OK", self.send(whole[:size]), whole[:size])
        self.assertIn(b"200 OK", self.send(self.request(more=b"Connection: close\r\n"), close=False))

    def test_no_http(self):
        random.seed(3)
        for data in (b"\r\n" * 1000, b"GET", b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n",
                     b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 50000,
                     b"GET / HTTP/1.1\r\n" + b"a" * 100000, b"\x16\x03\x01\x02\x00\x01\x00", b"PRI * HTTP/2.0\r\n\r\n",
                     b"GET /%00%ff%2e%2e/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"X" * 100000):
            self.send(data)
        for _ in range(200):
            self.send(random.randbytes(random.randint(1, 400)))

    def test_lengths(self):
        """Bodies whose length is told twice or wrongly are refused, not smuggled in."""
        body = b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for more in (b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: xchunked\r\n",
                     b"Transfer-Encoding: chunked, identity\r\n", b"Content-Length: 3\r\n"):
            self.assertNotIn(b'"status":"ok"', self.send(self.request(body, more)), more)
        for length in b"-1", b"1e3", b"99999999999999999999999", b"0x10", b"", b"5 5":
            head = b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: %s\r\n\r\n{}" % length
            self.assertNotIn(b"200 OK", self.send(head), length)
        for chunk in b"zz\r\n", b"-1\r\n", b"ffffffffffffffffff\r\nab", b"5\r\nab\r\n0\r\n\r\n", b"\r\n":
            head = b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            self.assertNotIn(b"200 OK", self.send(head + chunk))


if __name__ == "__main__":
    main()
