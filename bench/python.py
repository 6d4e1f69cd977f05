"""The Python package beside python-crfsuite, if that is installed: CoNLL-2000 with the 19 templates of CRF++'s example.

    PYTHONPATH=... python3 bench/python.py train.txt test.txt [PART...]

Parts: append, train, tag, marginals, threads, short, memory, columns; all without one, except train, which takes minutes. Each
task of each library runs in a process of its own, both alternating, three rounds; the ratios are those of the medians.
Two threads are given beside two processes, which share no lock: what the memory of the machine allows.
Seconds are processor seconds, except for threads, where they are those of a clock. Peaks are those of the whole process;
the peak of one that makes the Python lists and does nothing else is printed beside them.
"""

import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

WORDS = [(-2,), (-1,), (0,), (1,), (2,), (-1, 0), (0, 1)]
TAGS = [*WORDS[:5], (-2, -1), (-1, 0), (0, 1), (1, 2), (-2, -1, 0), (-1, 0, 1), (0, 1, 2)]
ITERATIONS = 400  # more than both need


def read(path):
    """Sentences as lists of rows (word, tag, label)."""
    with open(path, encoding="utf-8") as file:
        return [[line.split() for line in block.split("\n") if line] for block in file.read().split("\n\n") if block.strip()]


def pieces(sentence, position):
    """(name, value) of the 19 templates at a position."""
    for column, templates in (0, WORDS), (1, TAGS):
        for number, offsets in enumerate(templates):
            cells = []
            for offset in offsets:
                at = position + offset
                cells.append(sentence[at][column] if 0 <= at < len(sentence) else f"_{at}")
            yield f"{'wp'[column]}{number}", "/".join(cells)


def items(sentences, form):
    if form == "dicts":
        return [[dict(pieces(s, i)) for i in range(len(s))] for s in sentences]
    return [[[f"{name}={value}" for name, value in pieces(s, i)] for i in range(len(s))] for s in sentences]


def labels(sentences):
    return [[row[2] for row in sentence] for sentence in sentences]


def timed(work, clock=time.process_time):
    began = clock()
    result = work()
    return clock() - began, result


# ---- the two libraries ------------------------------------------------------------------------------------------------


class Theirs:
    def __init__(self):
        import pycrfsuite

        self.library = pycrfsuite

    def append(self, X, y):
        trainer = self.library.Trainer(verbose=False)
        for xseq, yseq in zip(X, y):
            trainer.append(xseq, yseq)
        return trainer

    def train(self, X, y, path, iterations):
        trainer = self.append(X, y)
        trainer.set_params({"c1": 0, "c2": 1, "max_iterations": iterations, "feature.possible_transitions": True})
        trainer.train(path)
        return trainer.logparser.last_iteration["loss"]

    def open(self, path):
        tagger = self.library.Tagger()
        tagger.open(path)
        return tagger

    def tag(self, tagger, X):
        return [tagger.tag(xseq) for xseq in X]

    def marginals(self, tagger, X):
        names = tagger.labels()
        result = []
        for xseq in X:
            tagger.set(xseq)
            result.append([[tagger.marginal(name, i) for name in names] for i in range(len(xseq))])
        return result


class Ours:
    def __init__(self):
        import trellis

        self.library = trellis

    def append(self, X, y):
        corpus = self.library.Corpus()
        for xseq, yseq in zip(X, y):
            corpus.add(xseq, yseq)
        return corpus

    def train(self, X, y, path, iterations):
        model = self.library.train(self.append(X, y), type="crf", l2=1, epochs=iterations, threads=1)
        model.save(path)
        return float(model.info["notes"]["objective"])

    def open(self, path):
        return self.library.Model.open(path)

    def tag(self, model, X):
        return [model.tag(xseq) for xseq in X]

    def marginals(self, model, X):
        return [model.marginals(xseq) for xseq in X]


# ---- tasks, each in a process of its own ------------------------------------------------------------------------------


def gain_of_two_threads(tag, X):
    """Seconds of one thread over those of two that share the work; the best of five each."""
    halves = [X[::2], X[1::2]]

    def both():
        threads = [threading.Thread(target=tag, args=(half,)) for half in halves]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    one, two = [], []
    for _ in range(5):
        one.append(timed(lambda: tag(X), time.perf_counter)[0])
        two.append(timed(both, time.perf_counter)[0])
    return min(one) / min(two)


def gain_of_two_processes(tag, X):
    """The same for processes, which begin together with copies of all there is."""
    fork = multiprocessing.get_context("fork")

    def work(part, barrier):
        tag(part[:50])
        barrier.wait()
        tag(part)
        barrier.wait()

    def run(parts):
        barrier = fork.Barrier(len(parts) + 1)
        processes = [fork.Process(target=work, args=(part, barrier)) for part in parts]
        for process in processes:
            process.start()
        barrier.wait()
        seconds, _ = timed(barrier.wait, time.perf_counter)
        for process in processes:
            process.join()
        return seconds

    one, two = [], []
    for _ in range(3):
        one.append(run([X]))
        two.append(run([X[::2], X[1::2]]))
    return min(one) / min(two)


def run_task(library, task, form, data, model, iterations):
    us = {"ours": Ours, "theirs": Theirs, "none": object}[library]()
    if task == "marginals" and library == "ours":
        import numpy  # noqa: F401 - the threads of its BLAS spin for some 30 ms after this
    X, y = items(data, form), labels(data)
    tokens = sum(map(len, y))
    result = {"tokens": tokens}
    if task == "append":
        result["seconds"], _ = timed(lambda: us.append(X, y))
    elif task == "train":
        result["seconds"], result["objective"] = timed(lambda: us.train(X, y, model, iterations))
    elif task == "short":
        sequences = [xseq[i : i + 5] for xseq in X for i in range(max(0, len(xseq) - 4))]
        sequences = (sequences * (100_000 // len(sequences) + 1))[:100_000]
        tagger = us.open(model)
        result["seconds"], _ = timed(lambda: us.tag(tagger, sequences))
        result["tokens"] = 500_000
    elif task == "threads":
        opened = us.open(model)
        us.tag(opened, X)
        X = X * 4
        for name, work in ("many", opened.tag_many), ("one by one", lambda part: us.tag(opened, part)):
            result[name] = gain_of_two_threads(work, X), gain_of_two_processes(work, X)
    elif task == "nothing":
        result["seconds"] = 0.0
    else:
        tagger = us.open(model)
        work = us.tag if task == "tag" else us.marginals
        work(tagger, X[:50])
        result["seconds"], _ = timed(lambda: work(tagger, X))
    result["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def spawn(*arguments):
    done = subprocess.run([sys.executable, __file__, "--task", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def median(values):
    return sorted(values)[len(values) // 2]


def compare(task, form, path, models, rounds, peer):
    found = {"ours": [], "theirs": []}
    for _ in range(rounds):
        for library in found:
            if library == "ours" or peer:
                found[library].append(spawn(library, task, form, path, models[library], ITERATIONS))
    figures = {}
    for library, runs in found.items():
        if runs:
            seconds = median([run["seconds"] for run in runs])
            figures[library] = seconds, runs[0]["tokens"] / seconds, median([run["peak_megabytes"] for run in runs])
    ours = figures["ours"]
    line = f"| {task} | {form} | {ours[0]:.3f} | {ours[1]:,.0f} | {ours[2]:.0f} |"
    if peer:
        theirs = figures["theirs"]
        line += f" {theirs[0]:.3f} | {theirs[1]:,.0f} | {theirs[2]:.0f} | {theirs[0] / ours[0]:.1f} |"
        if task == "train":
            line += f" objectives {found['ours'][0]['objective']:.2f}, {found['theirs'][0]['objective']:.2f}"
    print(line, flush=True)


def columns(train, test, command):
    """Raw columns with templates, beside the command, which reads the same ten times over from a file."""
    import trellis

    templates = os.path.join(os.path.dirname(__file__), "..", "examples", "templates", "crfpp-chunking.txt")
    path = tempfile.mktemp()
    model = trellis.train(train, type="crf", features=templates, epochs=15, threads=1)
    model.save(path)
    rows = [[(word, tag) for word, tag, _ in sentence] for sentence in read(test)]
    tokens = sum(map(len, rows))
    big = tempfile.mktemp()
    with open(test, encoding="utf-8") as file, open(big, "w", encoding="utf-8") as copy:
        copy.write((file.read().rstrip("\n") + "\n\n") * 10)
    seconds, command_seconds = [], []
    for _ in range(5):
        seconds.append(timed(lambda: model.tag_many(rows))[0])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([command, "tag", "-j", "1", "-m", path, big], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        command_seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    ours, theirs = median(seconds), median(command_seconds) / 10
    os.unlink(path)
    os.unlink(big)
    print(f"\nraw columns: tag_many {tokens / ours:,.0f} tokens/s, the command {tokens / theirs:,.0f}: {theirs / ours:.2f}")


def main(train, test, parts):
    parts = parts or ["append", "tag", "marginals", "threads", "short", "memory", "columns"]
    try:
        Theirs()
        peer = True
    except ImportError:
        peer = False
        print("python-crfsuite is not installed: ours alone")
    forms = ["lists", "dicts"]
    models = {form: {library: tempfile.mktemp() for library in ("ours", "theirs")} for form in forms}

    def model(form, few=20):
        for library in ["ours"] + ["theirs"] * peer:
            if not os.path.exists(models[form][library]):
                spawn(library, "train", form, train, models[form][library], few)
        return models[form]

    heading = "| task | items | seconds | tokens/s | peak MB |" + " their seconds | tokens/s | peak MB | ratio |" * peer
    print(heading + "\n" + "|---" * (9 if peer else 5) + "|", flush=True)
    if "append" in parts:
        for form in forms:
            compare("append", form, train, models[form], 3, peer)
    if "train" in parts:
        compare("train", "lists", train, models["lists"], 1, peer)
    for form in forms:
        for task in "tag", "marginals", "short":
            if task in parts:
                compare(task, form, test, model(form), 3, peer)
    if "threads" in parts:
        for form in forms:
            run = spawn("ours", "threads", form, test, model(form)["ours"], 0)
            for name in "many", "one by one":
                threads, processes = run[name]
                print(f"two threads, {form}, {name}: {threads:.2f} times one; two processes: {processes:.2f}", flush=True)
    if "memory" in parts:
        for path in train, test:
            for form in forms:
                run = spawn("none", "nothing", form, path, "", 0)
                print(f"peak with the {form} of {os.path.basename(path)} alone: {run['peak_megabytes']:.0f} MB", flush=True)
    if "columns" in parts:
        columns(train, test, os.environ.get("TRELLIS", "build/trellis"))
    for path in [path for form in forms for path in models[form].values()]:
        if os.path.exists(path):
            os.unlink(path)


if __name__ == "__main__":
    if sys.argv[1] == "--task":
        _, _, library, task, form, path, model, iterations = sys.argv
        print(json.dumps(run_task(library, task, form, read(path), model, int(iterations))))
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
