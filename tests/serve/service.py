"""A trellis service for tests: started on a free port, ended and checked when the test is over."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import unittest

TRELLIS = os.environ["TRELLIS"]
TMP = os.environ["TRELLIS_TMP"]
# The sanitizers and valgrind make everything slower.
SANITIZED = bool(os.environ.get("TRELLIS_SANITIZE"))


def trellis(*arguments, **more):
    return subprocess.run([TRELLIS, *arguments], check=True, capture_output=True, **more).stdout


def train(name, *arguments):
    """The path of a model, trained once for all tests of a process."""
    path = os.path.join(TMP, name + ".model")
    if not os.path.exists(path):
        trellis("train", "-q", "-m", path, *arguments)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def columns(file, name, *chosen):
    """The path of a file with some of the columns of a corpus."""
    path = os.path.join(TMP, name + ".txt")
    with open(file) as lines, open(path, "w") as out:
        for line in lines:
            cells = line.split()
            out.write(" ".join(cells[i] for i in chosen if cells) + "\n")
    return path


def sentences(text):
    """Sentences of rows of cells."""
    return [[line.split() for line in part.split("\n") if line] for part in text.split("\n\n") if part.strip()]


def models():
    """Models of words alone, of words and tags with names, without probabilities, of attributes."""
    crf = ["-t", "crf", "-e", "15"]
    words = columns("data/english/train.conll", "words-train", 0, 2)
    chunks = columns("data/english/train.conll", "chunks-train", 0, 1, 2)
    attributes = os.path.join(TMP, "attributes.txt")
    with open(attributes, "w") as out:
        out.write("DT\tw=the\nNN\tw=dog\tlong:0.5\nVB\tw=barks\tend\n\n" * 20)
    return {"words": train("words", *crf, words),
            "chunk": train("chunk", *crf, "--columns", "word,pos,chunk", "-f", "chunk", chunks),
            "plain": train("plain", "-t", "perceptron", "-e", "3", words),
            "attributes": train("attributes", *crf, "--format", "crfsuite", attributes)}


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        self.type = response.headers.get("Content-Type", "").split(";")[0]

    @property
    def json(self):
        return json.loads(self.body)


class Service:
    def __init__(self, *arguments, listen="127.0.0.1:0"):
        self.process = subprocess.Popen([TRELLIS, "serve", "--listen", listen, *arguments],
                                        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.changed = threading.Condition()
        self.collector = threading.Thread(target=self.collect, daemon=True)
        self.collector.start()
        line = self.wait_for("listening on|:")
        found = re.search(r"listening on http://(.*):(\d+) with", line)
        if not found and "unix:" not in line:
            raise RuntimeError("the service did not start: " + line)
        self.host, self.port = (found[1].strip("[]"), int(found[2])) if found else (None, None)

    def collect(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def wait_for(self, pattern, seconds=60):
        """The first line on standard error that matches; each line is given once."""
        with self.changed:
            def find():
                return [line for line in self.lines if line is None or re.search(pattern, line)]
            self.changed.wait_for(find, seconds)
            found = find()
            if not found or found[0] is None:
                raise RuntimeError("no line matches %r: %s" % (pattern, self.lines))
            self.lines.remove(found[0])
            return found[0]

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        link = connection or self.connect()
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        link.request(method, path, body, headers)
        answer = Answer(link.getresponse())
        if not connection:
            link.close()
        return answer

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def tag(self, **request):
        return self.ask("POST", "/v1/tag", request)

    def metric(self, name):
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        raise KeyError(name)

    def end(self, number=signal.SIGTERM, seconds=60):
        """The exit status after a signal."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(seconds)
        self.process.stdout.close()
        self.collector.join()
        self.process.stderr.close()
        if status != 0:
            print("the service ended with %s and said:" % status, *self.lines[-80:-1], sep="\n", file=sys.stderr)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *what):
        try:
            status = self.end()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = "killed"
        if what[0] is None and status != 0:
            raise RuntimeError("the service ended with %s: %s" % (status, self.lines))


def main():
    unittest.main(verbosity=1)
