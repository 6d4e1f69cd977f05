"""What people write today: a small service around python-crfsuite, for gunicorn or any WSGI server.

The requests and answers are those of trellis serve, as far as labels go; the attributes are those of CRF++'s chunking
templates, as examples/templates/crfpp-chunking.txt has them.
"""

import json
import os

import pycrfsuite

tagger = pycrfsuite.Tagger()
tagger.open(os.environ["CRFSUITE_MODEL"])

TEMPLATES = [(f"U{number:02}", parts) for number, parts in enumerate(
    [[(k, 0)] for k in range(-2, 3)] + [[(-1, 0), (0, 0)], [(0, 0), (1, 0)]])]
TEMPLATES += [(f"U{10 + number}", parts) for number, parts in enumerate(
    [[(k, 1)] for k in range(-2, 3)] + [[(k, 1), (k + 1, 1)] for k in range(-2, 2)])]
TEMPLATES += [(f"U{22 + k}", [(k, 1), (k + 1, 1), (k + 2, 1)]) for k in range(-2, 1)]


def attributes(rows):
    def cell(at, column):
        if at < 0:
            return f"_B{at}"
        return rows[at][column] if at < len(rows) else f"_B+{at - len(rows) + 1}"
    return [[name + ":" + "/".join(cell(i + k, column) for k, column in parts) for name, parts in TEMPLATES]
            for i in range(len(rows))]


def application(environ, start_response):
    body = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
    answer = [{"tokens": one["tokens"], "labels": tagger.tag(attributes(list(zip(one["tokens"], one["pos"]))))}
              for one in body.get("sequences", [body])]
    data = json.dumps({"sequences": answer}).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(data)))])
    return [data]
