"""How the service is operated: limits, queue, slow clients, the end, reloading, access, log."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from service import SANITIZED, TMP, TRELLIS, Service, main, models, trellis

LONG = {"model": "words", "tokens": ["The", "dog", "barks"] * 300}  # explaining it takes a while
SENTENCE = {"model": "words", "tokens": ["The", "dog", "barks", "."]}


def words(*more, **settings):
    return Service("-m", models()["words"], *more, **settings)


def run_threads(count, function):
    threads = [threading.Thread(target=function, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    return threads


def raw(service, data, timeout=30):
    """What the service sends back for these bytes until it closes the connection."""
    with socket.create_connection((service.host, service.port), timeout) as link:
        link.sendall(data)
        received = b""
        try:
            while True:
                part = link.recv(65536)
                if not part:
                    return received
                received += part
        except ConnectionResetError:
            return received


class Limits(unittest.TestCase):
    def test_sizes(self):
        with words("--max-body", "2K", "--max-tokens", "20") as service:
            self.assertEqual(service.tag(tokens=["a"] * 20).status, 200)
            self.assertEqual(service.tag(tokens=["a"] * 21).status, 413)
            self.assertEqual(service.tag(text="a " * 21).status, 413)
            self.assertEqual(service.ask("POST", "/v1/tag", "a\n" * 21, {"Content-Type": "text/plain"}).status, 413)
            self.assertEqual(service.tag(tokens=["a" * 2100]).status, 413)
            chunks = b"800\r\n" + b" " * 2048 + b"\r\n"
            head = b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            self.assertIn(b" 413 ", raw(service, head + chunks * 3 + b"0\r\n\r\n").split(b"\r\n")[0])
            late = b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
            self.assertIn(b" 413 ", raw(service, late).split(b"\r\n")[0])  # before the body comes
            self.assertEqual(service.tag(tokens=["a"]).status, 200)

    def test_limits_on_a_sequence(self):
        with words("--max-length", "5", "--max-labellings", "8") as service:
            text = {"Content-Type": "text/plain"}
            self.assertEqual(service.tag(tokens=["a"] * 5).status, 200)
            self.assertEqual(service.tag(sequences=[{"tokens": ["a"] * 5}] * 2).status, 200)
            self.assertEqual(service.ask("POST", "/v1/tag", "a\n" * 5 + "\n" + "a\n" * 5, text).status, 200)
            for answer in (
                service.tag(tokens=["a"] * 6),
                service.tag(text="a " * 6),
                service.tag(sequences=[{"tokens": ["a"]}, {"tokens": ["a"] * 6}]),
                service.ask("POST", "/v1/tag", "a\n" * 6, text),
            ):
                self.assertEqual(answer.status, 413)
                self.assertIn("--max-length", str(answer.json))
            self.assertEqual(service.tag(tokens=["a"] * 4, nbest=2).status, 200)
            answer = service.tag(tokens=["a"] * 4, nbest=3)
            self.assertEqual(answer.status, 413)
            self.assertIn("--max-labellings", str(answer.json))

    def test_full_queue(self):
        """Beyond the queue the answer is 503; what was accepted is answered, and so is /health."""
        answers, refused = [], []
        with words("-j", "1", "--queue", "2", "--timeout", "60") as service:
            def ask(_):
                answer = service.ask("POST", "/v1/explain", LONG)
                (answers if answer.status == 200 else refused).append(answer)
            threads = run_threads(12, ask)
            self.assertEqual(service.get("/health").status, 200)
            for thread in threads:
                thread.join()
            self.assertTrue(answers and refused)
            self.assertEqual({a.status for a in refused}, {503})
            self.assertEqual({a.headers["Retry-After"] for a in refused}, {"1"})
            self.assertEqual(len({a.body for a in answers}), 1)
            self.assertEqual(service.ask("POST", "/v1/explain", LONG).body, answers[0].body)
            self.assertIn('reason="queue_full"} %d' % len(refused), service.get("/metrics").body.decode())

    def test_time(self):
        with words("--timeout", "0.001") as service:
            answer = service.tag(sequences=[{"tokens": ["a"] * 1000}] * 50)
            self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "1"))

    def test_slow_clients(self):
        """A byte now and then does not keep a connection: in the headers, the body, or between."""
        with words("--client-timeout", "1") as service:
            start = b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
            for beginning in b"", start, start + b"\r\n":
                began = time.monotonic()
                with socket.create_connection((service.host, service.port), 30) as link:
                    link.sendall(beginning)
                    link.settimeout(0.2)
                    closed = False
                    while not closed and time.monotonic() - began < 20:
                        try:
                            closed = link.recv(100) == b""
                            if beginning:
                                link.send(b"X")
                        except socket.timeout:
                            pass
                        except OSError:
                            closed = True
                    self.assertTrue(closed)
                    self.assertGreater(time.monotonic() - began, 0.9)
            self.assertIn('reason="slow_client"', service.get("/metrics").body.decode())

    def test_slow_reader(self):
        with words("--client-timeout", "1") as service:
            request = json.dumps({"tokens": ["a"] * 5000, "all_marginals": True}).encode()
            with socket.create_connection((service.host, service.port), 30) as link:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                head = b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(request)
                link.sendall(head + request)
                end = time.monotonic() + 20
                while service.metric("trellis_connections") > 1 and time.monotonic() < end:
                    time.sleep(0.1)
                self.assertLess(time.monotonic(), end)

    def test_keep_alive(self):
        with words() as service:
            link = service.connect()
            for _ in range(100):
                self.assertEqual(service.ask("POST", "/v1/tag", SENTENCE, connection=link).status, 200)
            self.assertEqual(service.metric("trellis_connections"), 2)
            link.close()
            old = raw(service, b"GET /health HTTP/1.0\r\n\r\n")
            self.assertTrue(old.endswith(b"}\n"))
            two = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2
            piped = raw(service, two + b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertEqual(piped.count(b'"status":"ok"'), 3)


class End(unittest.TestCase):
    def test_requests_finish(self):
        """After SIGTERM: what is being worked on is answered, nobody else gets in."""
        answers = []
        service = words("-j", "1", "--timeout", "300", "--grace", "300")
        threads = run_threads(4, lambda _: answers.append(service.ask("POST", "/v1/explain", LONG)))
        while service.metric("trellis_workers_busy") + service.metric("trellis_queue_length") < 4:
            time.sleep(0.01)
        service.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        self.assertEqual([a.status for a in answers], [200] * 4)
        self.assertEqual(service.process.wait(60), 0)
        with self.assertRaises(ConnectionRefusedError):
            service.connect().connect()
        self.assertEqual(service.end(), 0)

    def test_interrupt(self):
        service = words()
        self.assertEqual(service.tag(tokens=["a"]).status, 200)
        self.assertEqual(service.end(signal.SIGINT), 0)


class Reload(unittest.TestCase):
    """A model is replaced while four clients ask all the time: each answer is of one model or the
    other, and none is missing."""

    def setUp(self):
        files = models()
        self.path = os.path.join(TMP, "served.model")
        self.other = os.path.join(TMP, "other.model")
        if not os.path.exists(self.other):  # the same words, every label X
            with open(os.path.join(TMP, "x.txt"), "w") as out:
                out.write("The X\ndog X\nbarks X\n. X\n\n")
            trellis("train", "-q", "-m", self.other, os.path.join(TMP, "x.txt"))
        self.first = files["words"]
        shutil.copy(self.first, self.path)
        self.stop = threading.Event()
        self.labels, self.failures = set(), []

    def client(self, service):
        link = service.connect()
        while not self.stop.is_set():
            answer = service.ask("POST", "/v1/tag", {"tokens": SENTENCE["tokens"]}, connection=link)
            if answer.status != 200:
                self.failures.append(answer.body)
            self.labels.add(tuple(answer.json["sequences"][0]["labels"]))
        link.close()

    def labels_now(self, service):
        return service.tag(tokens=SENTENCE["tokens"]).json["sequences"][0]["labels"]

    def play(self, service, replace):
        threads = run_threads(4, lambda _: self.client(service))
        before = self.labels_now(service)
        try:
            replace(lambda file: os.replace(shutil.copy(file, self.path + ".new"), self.path))
        finally:
            self.stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(self.failures, [])
        self.assertEqual(self.labels, {tuple(before), ("X",) * 4})

    def test_hangup(self):
        with Service("-m", self.path) as service:
            def replace(move):
                for file in self.other, self.first, self.other:
                    move(file)
                    service.process.send_signal(signal.SIGHUP)
                    service.wait_for("reloaded")
                    self.assertEqual(self.labels_now(service)[0] == "X", file == self.other)
            self.play(service, replace)
            self.assertEqual(service.metric("trellis_model_reloads_total"), 3)

    def test_watch(self):
        with Service("-m", self.path, "--watch") as service:
            def replace(move):
                move(self.other)
                service.wait_for("reloaded")
                self.assertEqual(self.labels_now(service), ["X"] * 4)
            self.play(service, replace)

    def test_corrupt(self):
        """Files that are no models, also written over the one in use: the old model stays."""
        good = open(self.first, "rb")
        data = good.read()
        good.close()
        damaged = bytearray(data)
        damaged[len(data) // 2] ^= 0x40
        with Service("-m", self.path) as service:
            before = self.labels_now(service)
            for bad in b"", b"not a model", data[:-7], data[:1000], bytes(damaged), os.urandom(5000):
                with open(self.path, "wb") as out:  # in place, as cp does
                    out.write(bad)
                service.process.send_signal(signal.SIGHUP)
                self.assertIn("served.model", service.wait_for("stays as it was"))
                self.assertEqual(self.labels_now(service), before)
                problem = service.get("/v1/models").json["models"][0]["problem"]
                self.assertTrue(problem)
                self.assertNotIn(TMP, problem)
            os.remove(self.path)
            service.process.send_signal(signal.SIGHUP)
            service.wait_for("stays as it was.*No such file")
            shutil.copy(self.other, self.path)
            service.process.send_signal(signal.SIGHUP)
            service.wait_for("reloaded")
            self.assertEqual(self.labels_now(service), ["X"] * 4)
            self.assertIsNone(service.get("/v1/models").json["models"][0]["problem"])
            self.assertEqual(service.metric("trellis_model_reload_failures_total"), 7)


class Access(unittest.TestCase):
    def tokens(self, text, mode=0o600):
        path = os.path.join(TMP, "tokens")
        with open(path, "w") as out:
            out.write(text)
        os.chmod(path, mode)
        return path

    def test_tokens(self):
        first, second = "first-0123456789abcdef", "second-0123456789abcdef"
        path = self.tokens(f"# rotate\n{first}\n\n{second}\n")
        with words("--token-file", path) as service:
            def status(token, where="/v1/models"):
                headers = {"Authorization": token} if token else {}
                return service.get(where, headers=headers).status
            self.assertEqual([status("Bearer " + t) for t in (first, second)], [200, 200])
            for wrong in (None, "Bearer", "Bearer ", "Bearer x", "Bearer " + first[:-1], "Bearer " + first + "0",
                          "Basic " + first, first, "Bearer # rotate", "Bearer " + "x" * 5000):
                self.assertEqual(status(wrong), 401, wrong)
            self.assertEqual([status(None, where) for where in ("/health", "/ready", "/")], [200] * 3)
            self.assertEqual(status(None, "/metrics"), 401)
            refused = service.tag(tokens=["a"])
            self.assertEqual((refused.status, refused.headers["WWW-Authenticate"]), (401, "Bearer"))
            self.tokens(second + "\n")
            service.process.send_signal(signal.SIGHUP)
            service.wait_for("reloaded")
            end = time.monotonic() + 20
            while status("Bearer " + first) != 401 and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual([status("Bearer " + t) for t in (first, second)], [401, 200])
            self.tokens("short\n")
            service.process.send_signal(signal.SIGHUP)
            service.wait_for("tokens stay as they were")
            self.assertEqual(status("Bearer " + second), 200)

    def test_pages_elsewhere(self):
        with words("--allow-host", "tagger.example", "--allow-origin", "https://page.example") as service:
            here = f"127.0.0.1:{service.port}"

            def status(method="POST", **headers):
                headers = {name.replace("_", "-"): value for name, value in headers.items()}
                body = json.dumps(SENTENCE) if method == "POST" else None
                return service.ask(method, "/v1/tag" if method == "POST" else "/v1/models", body, headers).status
            self.assertEqual(status(Origin=f"http://{here}"), 200)
            self.assertEqual(status(Origin=f"http://localhost:{service.port}", Host=f"localhost:{service.port}"), 200)
            for origin in ("http://evil.example", "null", "https://page.example.evil", f"http://{here}.evil.example",
                           "http://127.0.0.1", f"http://127.0.0.1:{service.port + 1}", "file://"):
                self.assertEqual(status(Origin=origin), 403, origin)
            for host in "evil.example", f"evil.example:{service.port}", "127.0.0.1.evil.example", "", "[::1].evil":
                self.assertEqual(status(Host=host), 421 if host != "[::1].evil" else 200, host)
            for host in "tagger.example", "TAGGER.example:443", "localhost", "[::1]:80", "10.1.2.3":
                self.assertEqual(status(Host=host), 200, host)
            self.assertEqual(status(Host="tagger.example", Origin="https://tagger.example"), 200)
            self.assertEqual(status("GET", Sec_Fetch_Site="cross-site"), 403)
            self.assertEqual(status("GET", Sec_Fetch_Site="same-origin"), 200)
            self.assertEqual(service.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status, 200)

    def test_allowed_origin(self):
        with words("--allow-origin", "https://page.example") as service:
            page = {"Origin": "https://page.example"}
            answer = service.ask("POST", "/v1/tag", SENTENCE, page)
            self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (200, page["Origin"]))
            asked = service.ask("OPTIONS", "/v1/tag", headers={**page, "Access-Control-Request-Method": "POST"})
            self.assertEqual(asked.status, 204)
            self.assertIn("Content-Type", asked.headers["Access-Control-Allow-Headers"])
            other = service.ask("OPTIONS", "/v1/tag", headers={"Origin": "https://evil.example"})
            self.assertEqual((other.status, other.headers["Access-Control-Allow-Origin"]), (403, None))


class Operation(unittest.TestCase):
    def test_access_log(self):
        path = os.path.join(TMP, "access.log")
        with words("--access-log", path) as service:
            service.ask("POST", "/v1/tag", {"text": "Secret words."})
            service.get("/nothing%0A%22x%22")
            os.rename(path, path + ".1")
            service.process.send_signal(signal.SIGHUP)
            service.wait_for("reloaded")
            end = time.monotonic() + 20
            while not os.path.exists(path) and time.monotonic() < end:
                time.sleep(0.05)
            service.get("/health")
        with open(path + ".1") as file:
            text = file.read()
            lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([(line["path"], line["status"]) for line in lines],
                         [("/v1/tag", 200), ('/nothing\n"x"', 404)])
        self.assertEqual((lines[0]["model"], lines[0]["tokens"], lines[0]["client"]), ("words", 3, "127.0.0.1"))
        self.assertLess(lines[0]["worked"], lines[0]["seconds"])
        self.assertNotIn("Secret", text)
        with open(path) as file:
            self.assertEqual([json.loads(line)["path"] for line in file], ["/health"])

    def test_unix_socket(self):
        path = os.path.join(TMP, "socket")
        with words(listen="unix:" + path):
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(path)
                link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertIn(b"200 OK", link.recv(1000))

    def test_wrong_starts(self):
        model = models()["words"]

        def start(status, words, *arguments):
            run = subprocess.run([TRELLIS, "serve", *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, status, run.stderr)
            self.assertIn(words, run.stderr)
        start(2, "-m is missing")
        start(2, "unexpected 'x'", "-m", model, "x")
        start(1, "No such file", "-m", "/nowhere")
        start(1, "test.conll", "-m", "data/english/test.conll")
        start(2, "two models are named 'words'", "-m", model, "-m", model)
        start(2, "NAME=FILE", "-m", model, "-m", "a b=" + model)
        start(2, "ADDRESS:PORT", "-m", model, "--listen", "here")
        start(2, "--queue must be", "-m", model, "--queue", "0")
        start(2, "--max-body must be", "-m", model, "--max-body", "4X")
        start(2, "ulimit", "-m", model, "--max-connections", "1000000")
        start(1, "chmod", "-m", model, "--token-file", Access().tokens("x" * 20, 0o644))
        with words() as service:
            start(1, "Address already in use", "-m", model, "--listen", f"127.0.0.1:{service.port}")

    def test_warns_without_token(self):
        with words(listen="0.0.0.0:0") as service:
            self.assertIn("need no token", service.wait_for("warning"))

    @unittest.skipUnless(os.path.isdir("/proc/self/fd"), "there is no /proc")
    def test_nothing_is_left_open(self):
        with words() as service:
            pid = service.process.pid

            def files():
                return len(os.listdir(f"/proc/{pid}/fd"))
            service.tag(tokens=["a"])
            before = files()
            for _ in range(200):
                raw(service, b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            for _ in range(20):
                service.process.send_signal(signal.SIGHUP)
                service.wait_for("reloaded")
            end = time.monotonic() + 20
            while files() > before and time.monotonic() < end:
                time.sleep(0.1)
            self.assertLessEqual(files(), before)


if __name__ == "__main__":
    main()
