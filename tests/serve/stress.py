"""Many mixed requests from several connections, one in a hundred of them garbage: every answer is the one
that a quiet service gives, and memory does not grow.

    stress.py COUNT [GARBAGE_SHARE]
"""

import json
import multiprocessing
import os
import random
import socket
import sys
import time

from service import SANITIZED, Service, models, read, sentences

CONNECTIONS, BATCH = 4, 8


def render(method, path, body=b"", kind="application/json"):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def mixture():
    """Requests of all kinds, as bytes."""
    rows = sentences(read("data/english/test.conll"))
    requests = [render("GET", path) for path in ("/health", "/v1/models/words", "/", "/openapi.json", "/nothing")]
    for i, sentence in enumerate(rows[:40]):
        words, tags = [r[0] for r in sentence], [r[1] for r in sentence]
        for request in ({"tokens": words}, {"text": " ".join(words)}, {"tokens": words, "marginals": True},
                        {"model": "chunk", "tokens": words, "pos": tags}, {"model": "plain", "tokens": words},
                        {"tokens": words, "nbest": 1 + i % 5 * 2}, {"tokens": words, "decode": "posterior"},
                        {"text": "é " * i, "threshold": 0.5}, {"model": "chunk", "tokens": words}):
            requests.append(render("POST", "/v1/tag", json.dumps(request).encode()))
        requests.append(render("POST", "/v1/tag?model=chunk", "\n".join(map(" ".join, sentence)).encode(),
                               "text/plain"))
    batch = {"sequences": [{"tokens": [r[0] for r in s]} for s in rows]}
    requests.append(render("POST", "/v1/tag", json.dumps(batch).encode()))
    requests.append(render("POST", "/v1/explain", json.dumps({"tokens": ["The", "dog"]}).encode()))
    requests.append(render("POST", "/v1/trellis", json.dumps({"tokens": ["The", "dog"]}).encode()))
    gold = "\n\n".join("\n".join(f"{r[0]} {r[2]}" for r in s) for s in rows[:5])
    requests.append(render("POST", "/v1/evaluate", gold.encode(), "text/plain"))
    return requests


class Client:
    def __init__(self, address):
        self.address = address
        self.connect()

    def connect(self):
        self.link = socket.create_connection(self.address, 120)
        self.buffer = b""

    def receive(self):
        """The status line and the body of the next answer."""
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, _, rest = self.buffer.partition(b"\r\n\r\n")
        lower = head.lower()
        at = lower.index(b"content-length: ") + 16
        size = int(lower[at:].split(b"\r\n")[0])
        self.buffer = rest
        while len(self.buffer) < size:
            self.more()
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        return head.split(b"\r\n")[0], body

    def more(self):
        part = self.link.recv(1 << 18)
        if not part:
            raise ConnectionError("closed")
        self.buffer += part

    def garbage(self, requests):
        """Bytes that are no request, or a part of one; then the connection is gone."""
        kind = random.randrange(3)
        data = random.choice(requests)
        if kind == 0:
            data = random.randbytes(random.randint(1, 2000))
        elif kind == 1:
            data = data[:random.randrange(len(data))]
        else:
            data = bytes(random.randrange(256) if random.random() < 0.02 else byte for byte in data[:3000])
        try:
            self.link.sendall(data)
        except OSError:
            pass
        self.link.close()
        self.connect()


def play(address, requests, expected, count, share, seed):
    random.seed(seed)
    client = Client(address)
    done = 0
    while done < count:
        if random.random() < share * BATCH:
            client.garbage(requests)
            done += 1
            continue
        chosen = [random.randrange(len(requests)) for _ in range(BATCH)]
        client.link.sendall(b"".join(requests[i] for i in chosen))
        for i in chosen:
            answer = client.receive()
            if answer != expected[i]:
                sys.exit(f"wrong answer to {requests[i][:300]}: {answer[0]} {answer[1][:300]}")
        done += BATCH


def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def round_of(service, requests, expected, count, share, seed):
    address = (service.host, service.port)
    clients = [multiprocessing.Process(target=play, args=(address, requests, expected, count // CONNECTIONS, share,
                                                          seed + i)) for i in range(CONNECTIONS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if any(client.exitcode for client in clients):
        sys.exit("a client failed")


def main():
    count = int(sys.argv[1])
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.01
    files = models()
    started = time.monotonic()
    with Service(*[word for name, path in files.items() for word in ("-m", f"{name}={path}")],
                 "--client-timeout", "60") as service:
        requests = mixture()
        quiet = Client((service.host, service.port))
        expected = []
        for request in requests:
            quiet.link.sendall(request)
            expected.append(quiet.receive())
        quiet.link.close()
        sizes = []
        for part in range(5):
            round_of(service, requests, expected, count // 5, share, 100 * part)
            sizes.append(resident(service.process.pid))
        print(f"{count} requests in {time.monotonic() - started:.0f} s; resident after each fifth: "
              + ", ".join(f"{size / 1e6:.1f}" for size in sizes) + " MB")
        if not SANITIZED and max(sizes[2:]) > 1.1 * sizes[1] + 4e6:
            sys.exit("memory grows")


if __name__ == "__main__":
    main()
