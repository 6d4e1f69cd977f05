"""Training and models."""

import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import trellis
from conftest import LABELS, SENTENCES


def test_tagging(model, data):
    assert model.tag_many(data[0]) == LABELS
    assert model.tag([]) == [] and model.tag_many([]) == []
    assert model.labels == ["DET", "NOUN", "VERB"]
    assert model.has_probabilities


def test_probabilities(model, data):
    marginals = model.marginals(data[0][2])
    rows = marginals.tolist()
    assert len(rows) == 3 and all(abs(sum(row) - 1) < 1e-5 for row in rows)
    best = model.nbest(data[0][2], 100)
    assert len(best) == 27 and abs(sum(path.probability for path in best) - 1) < 1e-6
    assert best[0].labels == LABELS[2]
    assert model.probability(data[0][2], LABELS[2]) == pytest.approx(best[0].probability)
    # The marginal of a label is the sum over the labellings that have it.
    assert rows[0][0] == pytest.approx(sum(p.probability for p in best if p.labels[0] == "DET"), abs=1e-5)
    with pytest.raises(ValueError, match="differ"):
        model.probability(data[0][2], ["DET"])
    with pytest.raises(ValueError, match="n must be"):
        model.nbest(data[0][2], 0)
    assert len(model.marginals([])) == 0


def test_a_model_without_probabilities(data):
    model = trellis.train(*data, type="perceptron")
    assert model.tag_many(data[0]) == LABELS
    assert model.nbest(data[0][0], 1)[0].probability is None
    with pytest.raises(ValueError):
        model.marginals(data[0][0])


def test_weights_add_up_to_the_score(model, data):
    weights = list(model.weights())
    node = {(w.attribute, w.labels[0]): w.weight for w in weights if w.kind == "node"}
    step = {w.labels: w.weight for w in weights if w.kind == "transition"}
    words, labels = SENTENCES[2], LABELS[2]
    score = sum(node.get((f"w:{word}", label), 0) for word, label in zip(words, labels))
    path = [None, *labels, None]
    score += sum(step.get((a, b), 0) for a, b in zip(path, path[1:]))
    assert model.nbest(data[0][2], 1)[0].score == pytest.approx(score, abs=1e-5)


def test_files_and_bytes(model, data, tmp_path):
    path = tmp_path / "a.model"
    model.save(path)
    again = trellis.Model.open(path)
    assert again.to_bytes() == model.to_bytes() == path.read_bytes()
    assert again.info["notes"]["type"] == "crf"
    copy = pickle.loads(pickle.dumps(model))
    assert copy.tag_many(data[0]) == LABELS
    assert trellis.Model.from_bytes(model.to_bytes()).labels == model.labels
    with pytest.raises(FileNotFoundError):
        trellis.Model.open(tmp_path / "none")
    with pytest.raises(OSError):
        model.save(tmp_path / "none" / "a.model")
    for bad in b"", b"no model", model.to_bytes()[:-9], bytes(1000):
        with pytest.raises(ValueError):
            trellis.Model.from_bytes(bad)
    with pytest.raises(TypeError):
        trellis.Model(None)


def test_columns_and_tokens(tmp_path):
    model = trellis.train(SENTENCES, LABELS, type="crf")
    assert model.tag(["the", "dog"]) == ["DET", "NOUN"]
    rows = [[(word, word[-1]) for word in sentence] for sentence in SENTENCES]
    model = trellis.train(rows, LABELS, columns=["word", "letter"], templates="node word\nnode letter\n", type="crf")
    assert model.columns == ("word", "letter")
    for same in model, pickle.loads(pickle.dumps(model)), trellis.Model.from_bytes(model.to_bytes(), model.columns):
        assert same.tag(rows[2]) == LABELS[2]
    assert model.tag([{"letter": letter, "word": word} for word, letter in rows[2]]) == LABELS[2]
    with pytest.raises(ValueError, match="position 1: 1 columns, expected 2"):
        model.tag([("a", "b"), ("a",)])
    with pytest.raises(ValueError, match="sequence 0, position 1, key 'last': there is no such column"):
        trellis.train([[{"word": "a", "last": "b"}, {"word": "a"}]], [["A", "B"]], columns=["word", "last"])


def test_files_of_a_corpus_give_the_same_model(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join("".join(f"{w} {l}\n" for w, l in zip(s, y)) + "\n" for s, y in zip(SENTENCES, LABELS)))
    from_file = trellis.train(path, type="crf")
    corpus = trellis.Corpus()
    corpus.read(path)
    assert len(corpus) == 4 and corpus.tokens == 9 and corpus.nbytes > 0
    assert trellis.train(corpus, type="crf").to_bytes() == from_file.to_bytes()
    assert trellis.train([path], dev=path, type="crf").info["notes"]["type"] == "crf"
    with pytest.raises(OSError):
        trellis.train(tmp_path / "none")
    with pytest.raises(OSError):
        corpus.read(tmp_path / "none")


def test_dev_and_holdout_and_init(data):
    seen = []
    model = trellis.train(*data, dev=data, type="crf", progress=seen.append)
    assert any(p.dev_accuracy == 1 for p in seen) and any(p.iteration for p in seen)
    corpus = trellis.Corpus()
    for number, (items, labels) in enumerate(zip(*data)):
        corpus.add(items, labels, group=number % 2)
    assert trellis.train(corpus, holdout=1, type="crf").tag(data[0][0]) == LABELS[0]
    assert trellis.train(*data, init=model, type="crf").tag(data[0][0]) == LABELS[0]
    weighted = trellis.train(*data, type="crf", sample_weight=[1, 1, 0.5, 2])
    assert weighted.to_bytes() != trellis.train(*data, type="crf").to_bytes()


def test_options(data):
    with pytest.raises(TypeError, match="unknown option 'epoch'; did you mean 'epochs'"):
        trellis.train(*data, epoch=3)
    with pytest.raises(ValueError):
        trellis.train(*data, l2="much")
    assert trellis.train(*data, lambda_=2, type="crf").info["notes"]["option-lambda"] == "2"
    assert trellis.options()["min_count"].type == "integer"


def test_progress_that_stops_or_raises(data):
    class Stop(Exception):
        pass

    def fail(progress):
        raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        trellis.train(*data, type="crf", progress=fail)

    def stop(progress):
        return progress.iteration < 2

    model = trellis.train(*data, type="crf", epsilon=0, delta=0, epochs=10**6, progress=stop)
    assert int(model.info["notes"]["iterations"]) <= 3


def test_interrupt(data):
    """Ctrl-C ends a training that would never end, quickly, and leaves a model."""
    script = """
import random, signal, trellis
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
corpus = trellis.Corpus()
for _ in range(3000):
    corpus.add([[f"w{random.randrange(999)}", "bias"] for _ in range(20)], [random.choice("ABCDEFG") for _ in range(20)])
print("training", flush=True)
try:
    trellis.train(corpus, type="perceptron", epochs=10**6)
except KeyboardInterrupt as error:
    print("interrupted", error.model is not None, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    while "training" not in process.stdout.readline():
        pass
    time.sleep(1)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    answer = process.stdout.readline()
    seconds = time.monotonic() - began
    process.wait()
    assert answer == "interrupted True\n"
    assert seconds < 2  # 0.3 s on a machine that does nothing else


def test_threads(model, data):
    failures = []

    def work():
        for _ in range(300):
            if model.tag_many(data[0]) != LABELS:
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_flat(model, data):
    def work(count):
        for _ in range(count):
            model.tag(data[0][2])
            model.nbest(data[0][2], 2)
            model.marginals(data[0][2])
            with pytest.raises(TypeError):
                model.tag([{"a": None}])

    work(1000)
    before = resident()
    for _ in range(100000):
        model.tag(data[0][2])
    work(1000)
    assert resident() - before < 1 << 20
    size = sys.getrefcount(None)
    work(100)
    assert abs(sys.getrefcount(None) - size) < 50


def test_log_probability_of_impossible_labels(model, data):
    assert math.isfinite(model.log_probability(data[0][0], ["VERB", "DET"]))
    assert model.probability(data[0][0], ["DET", "UNKNOWN"]) == 0


def test_a_model_for_crfsuite(model, data):
    copy = trellis.Model.from_bytes(model.to_crfsuite())
    assert copy.tag_many(data[0]) == LABELS
    assert copy.probability(data[0][2], LABELS[2]) == pytest.approx(model.probability(data[0][2], LABELS[2]))
    higher = trellis.train(*data, type="crf", order=2)
    with pytest.raises(ValueError):
        higher.to_crfsuite()
