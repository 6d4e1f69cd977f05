"""Beside python-crfsuite and sklearn-crfsuite themselves, where they are installed: the same behaviour, files and pickles.

Debian does not have them, so these tests are skipped by `make test`; .ci/run installs them from the registry.
"""

import gc
import os
import pickle
import random

import pytest

theirs = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
if theirs.__name__ != "pycrfsuite":
    pytest.skip("pycrfsuite is trellis.pycrfsuite", allow_module_level=True)

import trellis.dropin  # noqa: E402
from trellis import pycrfsuite as ours  # noqa: E402

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "english")
ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]


def items_of(words, i):
    word = words[i]
    found = {"w": word, "suffix": word[-3:], "capital": word[0].isupper(), "length": len(word) / 10, "bias": 1.0}
    found["around"] = {"-1": words[i - 1] if i else "^", "+1": words[i + 1] if i + 1 < len(words) else "$"}
    return found


def read(name, most):
    sentences, words, labels = [], [], []
    with open(os.path.join(CORPUS, name), encoding="utf-8") as file:
        for line in file:
            cells = line.split()
            if cells:
                words.append(cells[0])
                labels.append(cells[-1])
            elif words:
                sentences.append(([items_of(words, i) for i in range(len(words))], labels))
                words, labels = [], []
    return [x for x, _ in sentences[:most]], [y for _, y in sentences[:most]]


@pytest.fixture(scope="module")
def corpus():
    if not os.path.isdir(CORPUS):
        pytest.skip("the corpora of the repository are not here")
    return read("train.conll", 400), read("test.conll", 150)


def train(module, data, path, algorithm="lbfgs", **params):
    trainer = module.Trainer(algorithm, params, verbose=False)
    for items, labels in zip(*data):
        trainer.append(items, labels)
    trainer.train(str(path))
    return trainer.logparser


def tag(module, path, X):
    with module.Tagger().open(str(path)) as tagger:
        return [tagger.tag(items) for items in X]


def difference(one, other):
    pairs = [(a, b) for x, y in zip(one, other) for a, b in zip(x, y)]
    return sum(a != b for a, b in pairs) / len(pairs)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"c2": 0.1},
        {"feature.possible_transitions": True},
        {"feature.possible_states": True, "feature.possible_transitions": True},
        {"feature.minfreq": 2},
        {"feature.minfreq": 1.5, "feature.possible_states": True},
        {"c1": 0.2, "c2": 0.05, "feature.possible_transitions": True},
    ],
    ids=str,
)
def test_the_same_objective_and_labels(corpus, tmp_path, params):
    data, (X, _) = corpus
    logs = [train(module, data, tmp_path / module.__name__, **params) for module in (theirs, ours)]
    assert logs[0].featgen_num_features == logs[1].featgen_num_features
    objectives = [log.last_iteration["loss"] for log in logs]
    # c1 leaves the objective with kinks, where both stop less exactly.
    assert objectives[1] <= objectives[0] * (1 + (1e-3 if "c1" in params else 1e-4))
    assert abs(objectives[0] / objectives[1] - 1) < (5e-3 if "c1" in params else 1e-3)
    labels = [tag(ours, tmp_path / module.__name__, X) for module in (theirs, ours)]
    assert difference(*labels) < 0.005


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_model_files_both_ways(corpus, tmp_path, algorithm):
    data, (X, _) = corpus
    for number, module in enumerate((theirs, ours)):
        path = tmp_path / str(number)
        train(module, data, path, algorithm, **({"max_iterations": 10} if algorithm != "lbfgs" else {}))
        assert difference(tag(theirs, path, X), tag(ours, path, X)) < 1e-3
        for items in X[:20]:
            found = []
            for reader in (theirs, ours):
                with reader.Tagger().open(str(path)) as tagger:
                    labels = tagger.tag(items)
                    marginals = [tagger.marginal(label, i) for i in range(len(items)) for label in tagger.labels()]
                    found.append((labels, tagger.probability(labels), marginals, tagger.labels()))
            assert found[0][3] == found[1][3]
            assert found[0][1] == pytest.approx(found[1][1], rel=1e-3, abs=1e-6)
            assert found[0][2] == pytest.approx(found[1][2], abs=1e-4)


def test_accuracy_of_all_algorithms(corpus, tmp_path):
    """No algorithm learns noticeably worse than theirs."""
    data, (X, Y) = corpus
    for algorithm in ALGORITHMS:
        errors = []
        for module in (theirs, ours):
            train(module, data, tmp_path / "m", algorithm, **({"max_iterations": 20} if algorithm != "lbfgs" else {}))
            errors.append(difference(tag(ours, tmp_path / "m", X), Y))
        assert errors[1] < errors[0] + 0.02, algorithm


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("holdout", [-1, 1])
def test_the_same_events(algorithm, holdout, tmp_path):
    """Hooks are called in the same order, and our parser reads their log as theirs does."""
    events = {}
    for module in (theirs, ours):

        class Recorder(module.Trainer):
            def message(self, message):
                seen.append(message)
                super().message(message)

        names = "start featgen_progress featgen_end prepared prepare_error iteration optimization_end end".split()
        for name in names:
            setattr(Recorder, "on_" + name, lambda self, log, *more, name=name: called.append(name))
        seen, called = [], []
        trainer = Recorder(algorithm, {"max_iterations": 3})
        for number in range(12):
            items = [{"w": "ab"[number % 2]}, {"w": "c"}, {"w": "d", "n": 0.5}]
            trainer.append(items, ["x" if number % 2 else "y", "z", "x"], number % 3)
        trainer.train(str(tmp_path / "m"), holdout)
        events[module] = called
        parser, reference = ours._logparser.TrainLogParser(), theirs._logparser.TrainLogParser()
        assert [parser.feed(line) for line in seen] == [reference.feed(line) for line in seen]
        assert parser.iterations == reference.iterations and parser.last_log == reference.last_log
        assert parser.events == reference.events and parser.featgen_percent == reference.featgen_percent
        if algorithm == "lbfgs":
            infos = [set(info) for info in parser.iterations]
            assert infos and all(info == infos[0] for info in infos)
            events[module, "info"] = infos[0]
    without = [[name for name in events[module] if name != "iteration"] for module in (theirs, ours)]
    assert without[0] == without[1] and 1 <= events[ours].count("iteration") <= 3
    if algorithm == "lbfgs":
        assert events[theirs, "info"] == events[ours, "info"]


def test_the_same_items():
    generator = random.Random(3)

    def value(depth):
        kind = generator.randrange(7 if depth else 5)
        return ["text", b"bytes", 2, -0.5, True][kind] if kind < 5 else item(depth - 1) if kind == 5 else ["p", "q:r"]

    def item(depth):
        return {generator.choice(["a", "b:c", "ключ", b"d"]): value(depth) for _ in range(generator.randrange(4))}

    for _ in range(300):
        sequence = [item(2) for _ in range(generator.randrange(3))]
        assert ours.ItemSequence(sequence).items() == theirs.ItemSequence(sequence).items()


def outcome(action):
    try:
        return action()
    except Exception as error:  # noqa: BLE001
        return type(error)


def test_the_same_exceptions_and_values(tmp_path):
    train(theirs, ([[{"a": 1}, {"b": 1}]], [["x", "y"]]), tmp_path / "m")
    found = {}
    for module in (theirs, ours):
        trainer, tagger = module.Trainer(verbose=False), module.Tagger()
        actions = [
            lambda: trainer.select("foo"), lambda: trainer.select("ap"), trainer.params, trainer.get_params,
            lambda: trainer.get("foo"), lambda: trainer.set("foo", 1), lambda: trainer.help("c1"),
            lambda: trainer.append([{"a": 1}], ["x", "y"]), lambda: trainer.append([{"a": 1}], [1]),
            lambda: trainer.append([], []), lambda: trainer.set("max_iterations", "7.9"),
            lambda: trainer.get("max_iterations"), lambda: trainer.select("LBFGS"), trainer.get_params,
            lambda: trainer.set("linesearch", "Backtracking"), lambda: trainer.get("linesearch"),
            tagger.labels, tagger.info, lambda: tagger.probability(["x"]), lambda: tagger.marginal("x", 0),
            lambda: tagger.open(str(tmp_path / "nowhere")), lambda: tagger.open(__file__),
            lambda: tagger.open_inmemory(b"lCRFabc"), lambda: tagger.open(str(tmp_path / "m")) and None, tagger.labels,
            lambda: tagger.tag([]), lambda: tagger.probability([]), lambda: tagger.marginal("x", 0),
            lambda: tagger.tag([{"a": 1}, {"b": 1}]), lambda: tagger.probability(["x"]),
            lambda: tagger.probability(["x", "q"]), lambda: tagger.marginal("q", 0), lambda: tagger.marginal("x", 2),
            lambda: tagger.marginal("x", -1), tagger.close, tagger.labels, tagger.close, lambda: trainer.verbose,
            lambda: repr(module.ItemSequence([{}])), lambda: module.CRFSUITE_VERSION,
        ]  # fmt: skip
        found[module] = list(map(outcome, actions))
    for number, (one, other) in enumerate(zip(found[theirs], found[ours])):
        same = issubclass(other, one) if isinstance(one, type) and isinstance(other, type) else one == other
        assert same, (number, one, other)


def test_the_same_dump(tmp_path):
    train(theirs, ([[{"a": 1}, {"b": 0.5, "c": "d"}, {"a": 2}]], [["x", "y", "x"]]), tmp_path / "m", c2=0.1)
    texts, infos = [], []
    for module in (theirs, ours):
        with module.Tagger().open(str(tmp_path / "m")) as tagger:
            tagger.dump(str(tmp_path / "dump"))
            texts.append((tmp_path / "dump").read_text())
            infos.append(tagger.info())
    assert texts[0] == texts[1]
    parser = ours._dumpparser.CRFsuiteDumpParser()
    for line in texts[0].splitlines(keepends=True):
        parser.feed(line)
    for name in ("header", "labels", "attributes"):
        assert getattr(infos[0], name) == getattr(infos[1], name) == getattr(parser.result, name)
    for name in ("transitions", "state_features"):
        assert getattr(infos[0], name) == getattr(parser.result, name)
        assert getattr(infos[1], name) == pytest.approx(getattr(infos[0], name), abs=1e-6)


def test_no_data_makes_the_same_file(tmp_path):
    for module in (theirs, ours):
        module.Trainer(verbose=False).train(str(tmp_path / module.__name__))
    assert (tmp_path / theirs.__name__).read_bytes() == (tmp_path / ours.__name__).read_bytes()


def test_pickles_of_sklearn_crfsuite(corpus):
    original = pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed")
    (X, Y), (Xt, _) = corpus
    crf = original.CRF("lbfgs", c2=0.2, max_iterations=30).fit(X, Y)
    data, labels, marginals = pickle.dumps(crf), crf.predict(Xt), crf.predict_marginals(Xt[:3])
    trellis.dropin.install()
    try:
        again = pickle.loads(data)
        assert type(again).__module__ == "trellis.sklearn_crfsuite.estimator"
        assert difference(labels, again.predict(Xt)) < 1e-3
        for one, other in zip(marginals, again.predict_marginals(Xt[:3])):
            assert all(a == pytest.approx(b, abs=1e-4) for a, b in zip(one, other))
        assert again.size_ == crf.size_ and sorted(again.attributes_) == sorted(crf.attributes_)
        assert again.training_log_.last_iteration == crf.training_log_.last_iteration
        assert again.training_log_.last_log == crf.training_log_.last_log and again.get_params() == crf.get_params()
        refit = again.fit(X, Y)
        assert difference(labels, refit.predict(Xt)) < 0.02
    finally:
        trellis.dropin.uninstall()
        del crf
        gc.collect()
