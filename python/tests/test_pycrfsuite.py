"""trellis.pycrfsuite: names, arguments, exceptions, hooks, log and files of python-crfsuite."""

import math
import os
import pickle
import struct
import threading
from fractions import Fraction

import pytest

import trellis
from trellis import pycrfsuite
from trellis.pycrfsuite._dumpparser import CRFsuiteDumpParser, dump_lines
from trellis.pycrfsuite._logparser import LabelScore, TrainLogParser

ALGORITHMS = ["lbfgs", "l2sgd", "averaged-perceptron", "passive-aggressive", "arow"]
X = [
    [{"w": "the"}, {"w": "cat", "long": 0.5}, {"w": "sat"}],
    [{"w": "a"}, {"w": "dog"}],
    [{"w": "dogs"}, {"w": "run", "long": True}],
    [{"w": "the"}, {"w": "dog"}, {"w": "ran"}],
]
Y = [["DET", "NOUN", "VERB"], ["DET", "NOUN"], ["NOUN", "VERB"], ["DET", "NOUN", "VERB"]]


def make_trainer(cls=pycrfsuite.Trainer, algorithm=None, **keywords):
    trainer = cls(algorithm, verbose=False, **keywords)
    for items, labels in zip(X, Y):
        trainer.append(items, labels)
    return trainer


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    name = str(tmp_path_factory.mktemp("model") / "m.crfsuite")
    make_trainer(params={"c2": 0.01}).train(name)
    return name


@pytest.fixture
def tagger(path):
    with pycrfsuite.Tagger().open(path) as opened:
        yield opened


# ---- items


def test_item_sequence():
    nested = {"a": {"b": "c", "d": -0.5, "e": ["x", "y"], "f": {"g": {"h": 2}}}, b"raw": b"bytes", "n": 3, "t": True}
    sequence = pycrfsuite.ItemSequence([nested, ["k", "l"], {"m": {"z"}}, [], {"один": "два"}.keys()])
    assert len(sequence) == 5 and repr(sequence) == "<ItemSequence of size 5>"
    first = {"a:b:c": 1.0, "a:d": -0.5, "a:e:x": 1.0, "a:e:y": 1.0, "a:f:g:h": 2.0, "raw:bytes": 1.0, "n": 3.0, "t": 1.0}
    assert sequence.items() == [first, {"k": 1.0, "l": 1.0}, {"m:z": 1.0}, {}, {"один": 1.0}]
    assert pycrfsuite.ItemSequence(sequence.items()).items() == sequence.items()
    assert pickle.loads(pickle.dumps(sequence)).items() == sequence.items()


def test_item_sequence_in_the_place_of_a_list(tagger):
    for items in X:
        assert tagger.tag(pycrfsuite.ItemSequence(items)) == tagger.tag(items) == tagger.tag(iter(items))
    one = make_trainer(params={"c2": 0.01})
    other = pycrfsuite.Trainer(params={"c2": 0.01}, verbose=False)
    for items, labels in zip(X, Y):
        other.append(pycrfsuite.ItemSequence(items), iter(labels))
    stored = []
    one._run(-1, stored.append)
    other._run(-1, stored.append)
    assert stored[0] == stored[1]


def test_no_escapes_and_duplicates_add_up(tagger):
    variants = [[{"w": "the"}], [["w:the"]], [{"w:the": 1.0}], [{"w:the": 0.25, "w": ["the"], "x": 0}]]
    weights = []
    for items in variants:
        tagger.set(items)
        weights.append(tagger.probability(["DET"]))
    assert weights[0] == weights[1] == weights[2]
    assert weights[3] > weights[0]


@pytest.mark.parametrize(
    "bad", ["text", 5, ["text"], [5], [[{"a": 1.0}]], [[1]], [{"a": None}], [{"a": (1,)}], [{1: 2}], [None], None]
)
def test_bad_items_are_type_and_value_errors(bad):
    with pytest.raises(ValueError):
        pycrfsuite.ItemSequence(bad)
    with pytest.raises(TypeError):
        pycrfsuite.ItemSequence(bad)


def test_messages_say_where():
    trainer = make_trainer()
    with pytest.raises(trellis.ItemError, match="sequence 4, position 1, key 'a'"):
        trainer.append([{}, {"a": None}], ["x", "y"])
    with pytest.raises(ValueError, match="position 0, key 'a': .*nan"):
        trainer.append([{"a": float("nan")}], ["x"])
    with pytest.raises(ValueError, match="position 2.*zero byte"):
        trainer.append([{"a": 1}, {}, {"b\0c": 1}, {"d": 1}], ["x"] * 4)
    with pytest.raises(ValueError, match="zero byte"):
        trainer.append(pycrfsuite.ItemSequence([{"b\0c": 1}]), ["x"])
    with pytest.raises(ValueError, match="differ"):
        trainer.append([{"a": 1}], ["x", "y"])
    with pytest.raises(TypeError, match="label"):
        trainer.append([{"a": 1}], [3])
    assert sum(trainer._groups.values()) == 4


def test_an_exception_of_a_generator_reaches_the_caller():
    def broken():
        yield {"a": 1}
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        pycrfsuite.Trainer(verbose=False).append(broken(), ["x", "y"])


# ---- parameters


@pytest.mark.parametrize("algorithm", ALGORITHMS + ["ap", "pa", "LBFGS"])
def test_parameters(algorithm):
    trainer = pycrfsuite.Trainer(algorithm)
    values = trainer.get_params()
    assert list(values) == trainer.params()
    trainer.set_params({name: str(value) if not isinstance(value, bool) else value for name, value in values.items()})
    assert trainer.get_params() == values
    for name in ("feature.possible_states", "feature.possible_transitions"):
        assert trainer.get(name) is False
        trainer.set(name, "1")
        assert trainer.get(name) is True
    for use in (trainer.get, trainer.help, lambda name: trainer.set(name, 1)):
        with pytest.raises(ValueError):
            use("foo")
    with pytest.raises(ValueError):
        trainer.set("max_iterations", "many")
    assert all(trainer.help(name) for name in values)


def test_defaults():
    common = {"feature.minfreq": 0.0, "feature.possible_states": False, "feature.possible_transitions": False}
    expected = {
        "lbfgs": dict(
            c1=0.0, c2=1.0, max_iterations=2147483647, num_memories=6, epsilon=1e-5, period=10, delta=1e-5,
            linesearch="MoreThuente", max_linesearch=20,
        ),
        "l2sgd": {
            "c2": 1.0, "max_iterations": 1000, "period": 10, "delta": 1e-6, "calibration.eta": 0.1,
            "calibration.rate": 2.0, "calibration.samples": 1000, "calibration.candidates": 10,
            "calibration.max_trials": 20,
        },
        "ap": dict(max_iterations=100, epsilon=0.0),
        "pa": dict(type=1, c=1.0, error_sensitive=True, averaging=True, max_iterations=100, epsilon=0.0),
        "arow": dict(variance=1.0, gamma=1.0, max_iterations=100, epsilon=0.0),
    }  # fmt: skip
    for algorithm, own in expected.items():
        assert pycrfsuite.Trainer(algorithm).get_params() == {**common, **own}
    assert pycrfsuite.Trainer("pa").get("averaging") is True
    assert "L1" in pycrfsuite.Trainer().help("c1") and "L2" in pycrfsuite.Trainer("l2sgd").help("c2")


def test_select_resets_parameters_and_keeps_data():
    trainer = make_trainer(params={"c2": 7})
    trainer.select("LBFGS")
    assert trainer.get("c2") == 1.0
    trainer.train("")
    assert trainer.logparser.featgen_num_features > 0
    trainer.clear()
    trainer.train("")
    assert trainer.logparser.featgen_num_features == 0
    for wrong in (("foo",), ("lbfgs", "crf2d")):
        with pytest.raises(ValueError):
            trainer.select(*wrong)


def test_number_of_features():
    def features(**params):
        trainer = make_trainer(params=params)
        trainer.train("")
        return trainer.logparser.featgen_num_features

    # 8 words and `long` with NOUN and VERB; the transitions DET-NOUN and NOUN-VERB.
    assert features() == 10 + 2
    assert features(**{"feature.possible_transitions": True}) == 10 + 9
    assert features(**{"feature.possible_states": True}) == 9 * 3 + 2
    assert features(**{"feature.minfreq": 2}) == 2 + 2  # the and dog; both transitions
    assert features(**{"feature.minfreq": 1}) == 9 + 2  # not `long` with NOUN, which sums to 0.5
    assert features(**{"feature.minfreq": 3, "feature.possible_states": True}) == 0 + 2


# ---- hooks and log


class Recorder(pycrfsuite.Trainer):
    def __init__(self, fail_at=None):
        self.events = []
        self.fail_at = fail_at

    def __getattribute__(self, name):
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        def hook(log, *more):
            self.events.append((name[3:], log, *more))
            if self.fail_at == name[3:]:
                raise LookupError(name)

        return hook


def record(algorithm, holdout=False, fail_at=None, **params):
    trainer = Recorder(fail_at)
    trainer.select(algorithm)
    trainer.set_params(params)
    trainer.verbose = True
    for number, (items, labels) in enumerate(zip(X, Y)):
        trainer.append(items, labels, group=7 if holdout and number == 3 else 0)
    stored = []
    trainer._run(7 if holdout else -1, stored.append)
    return trainer, stored


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("holdout", [False, True])
def test_hooks_and_log(algorithm, holdout):
    trainer, stored = record(algorithm, holdout, max_iterations=4)
    names = [event[0] for event in trainer.events]
    assert names[0] == "start" and names[1:52] == ["featgen_progress"] * 51
    assert [event[2] for event in trainer.events[1:52]] == list(range(0, 101, 2))
    iterations = names.count("iteration")
    assert names[52:54] == ["featgen_end", "prepared"] and 1 <= iterations <= 4
    assert names[54:] == ["iteration"] * iterations + ["optimization_end", "end"]
    # Nothing of the log is lost, and nothing is said twice.
    log = "".join(event[1] for event in trainer.events)
    assert log == "".join(trainer.logparser.log)
    assert "type: CRF1d\n" in trainer.logparser.log
    assert ("Holdout group: 8\n" in log) == holdout
    parser = trainer.logparser
    assert parser.featgen_percent == 100 and parser.featgen_num_features > 0
    assert parser.featgen_seconds >= 0 and parser.training_seconds >= 0 and parser.storing_seconds >= 0
    assert [info["num"] for info in parser.iterations] == list(range(1, iterations + 1))
    for info in parser.iterations:
        assert info["loss"] >= 0 and info["time"] >= 0 and bool(info["scores"]) == holdout
        assert ("feature_norm" in info) == (algorithm != "l2sgd")
        assert ("error_norm" in info) == ("linesearch_step" in info) == (algorithm == "lbfgs")
        if holdout:
            assert set(info["scores"]) == {"DET", "NOUN", "VERB"}
            assert info["item_accuracy"].denominator in (1, 3) and isinstance(info["item_accuracy"], Fraction)
            assert info["instance_accuracy_float"] == float(info["instance_accuracy"])
    assert stored[0][:4] == b"lCRF"


@pytest.mark.parametrize("event", ["start", "featgen_progress", "featgen_end", "prepared", "iteration", "end"])
def test_an_exception_in_a_hook_ends_the_training(event):
    with pytest.raises(LookupError, match=event):
        record("lbfgs", fail_at=event)


def test_quiet_trainers_call_no_hooks(capsys, tmp_path):
    trainer = make_trainer()
    trainer.train("")
    assert trainer.logparser.iterations and capsys.readouterr().out == ""
    loud = make_trainer()
    loud.verbose = True
    loud.train(tmp_path / "m")
    assert capsys.readouterr().out == "".join(loud.logparser.log)


def test_base_trainer_gets_messages():
    messages = []

    class Base(pycrfsuite.BaseTrainer):
        def message(self, message):
            messages.append(message)

    make_trainer(Base).train("")
    assert "Feature generation\n" in messages and messages.count(".") == 40


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_data(algorithm, tmp_path):
    trainer = Recorder()
    trainer.verbose = True
    trainer.select(algorithm)
    name = tmp_path / "empty"
    trainer.train(str(name))
    assert [event[0] for event in trainer.events[-3:]] == ["prepare_error", "optimization_end", "end"]
    assert name.stat().st_size == 4236
    with pytest.raises(ValueError, match="no labels"):
        pycrfsuite.Tagger().open(str(name))


LOG = """Holdout group: 2

Feature generation
type: CRF1d
feature.minfreq: 0.000000
feature.possible_states: 0
feature.possible_transitions: 1
@
Number of features: 3948
Seconds required: 0.022

L-BFGS optimization
c1: 1.000000

***** Iteration #1 *****
Loss: 1450.519004
Feature norm: 1.000000
Error norm: 713.784994
Active features: 1794
Line search trials: 1
Line search step: 0.000228
Seconds required for this iteration: 0.008
Performance by label (#match, #model, #ref) (precision, recall, F1):
    B-LOC: (0, 0, 6) (0.0000, 0.0000, 0.0000)
    a: (b): (306, 339, 306) (0.9027, 1.0000, 0.9488)
    I-MISC: (0, 0, 0) (******, ******, ******)
Macro-average precision, recall, F1: (0.100295, 0.111111, 0.105426)
Item accuracy: 306 / 339 (0.9027)
Instance accuracy: 3 / 10 (0.3000)

***** Epoch #2 *****
Loss: -3.500000

L-BFGS terminated with the maximum number of iterations
Total seconds required for training: 0.022

Storing the model
Seconds required: 0.003

"""


def test_log_parser():
    parser = TrainLogParser()
    assert parser.featgen_percent == -2 and parser.last_iteration is None
    before, after = LOG.split("@\n")
    progress = [str(step // 5) if step % 5 == 0 else "." for step in range(51)]
    lines = before.splitlines(keepends=True) + progress + ["\n"] + after.splitlines(keepends=True)
    events = [event for event in map(parser.feed, lines) if event]
    assert events == ["start"] + ["featgen_progress"] * 51 + [
        "featgen_end", "prepared", "iteration", "iteration", "optimization_end", "end",
    ]  # fmt: skip
    assert [event[0] for event in parser.events] == events and parser.last_log.startswith("Storing the model\n")
    assert "".join(parser.log) == "".join(lines)
    first, second = parser.iterations
    assert second == {"num": 2, "scores": {}, "loss": -3.5} and second is parser.last_iteration
    assert first["scores"] == {
        "B-LOC": LabelScore(0, 0, 6, 0.0, 0.0, 0.0),
        "a: (b)": LabelScore(306, 339, 306, 0.9027, 1.0, 0.9488),
        "I-MISC": LabelScore(0, 0, 0, None, None, None),
    }
    expected = dict(
        loss=1450.519004, feature_norm=1.0, error_norm=713.784994, active_features=1794, linesearch_trials=1,
        linesearch_step=0.000228, time=0.008, avg_precision=0.100295, avg_recall=0.111111, avg_f1=0.105426,
        item_accuracy=Fraction(306, 339), instance_accuracy=Fraction(3, 10), instance_accuracy_float=0.3,
    )  # fmt: skip
    assert {name: first[name] for name in expected} == expected
    assert (parser.featgen_num_features, parser.featgen_seconds) == (3948, 0.022)
    assert (parser.training_seconds, parser.storing_seconds) == (0.022, 0.003)


# ---- files


def test_train_writes_a_file_and_leaves_nothing_else(tmp_path):
    name = tmp_path / "m"
    trainer = make_trainer()
    trainer.train(name)
    first = name.read_bytes()
    trainer.train(str(name))
    assert name.read_bytes() == first and os.listdir(tmp_path) == ["m"]
    assert first[:4] == b"lCRF" and struct.unpack_from("<I", first, 4)[0] == len(first)
    link = tmp_path / "link"
    link.symlink_to(name)
    trainer.select("ap")
    trainer.train(str(link))
    assert link.is_symlink() and name.read_bytes() != first
    make_trainer().train("/dev/null")


def test_unwritable_paths(tmp_path):
    class Never(pycrfsuite.BaseTrainer):
        def message(self, message):
            raise AssertionError("the training began")

    with pytest.raises(FileNotFoundError):
        make_trainer(Never).train(str(tmp_path / "nowhere" / "m"))
    with pytest.raises(IsADirectoryError):
        make_trainer(Never).train(str(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        make_trainer(Never).train(str(tmp_path / "file" / "m"))


def test_a_failed_training_leaves_the_old_model(tmp_path):
    name = tmp_path / "m"
    name.write_bytes(b"old")

    class Failing(pycrfsuite.Trainer):
        def on_iteration(self, log, info):
            raise LookupError

    trainer = make_trainer(Failing)
    trainer.verbose = True
    with pytest.raises(LookupError):
        trainer.train(str(name))
    assert name.read_bytes() == b"old" and os.listdir(tmp_path) == ["m"]


# ---- tagging


def test_tagger(tagger):
    assert set(tagger.labels()) == {"DET", "NOUN", "VERB"}
    for items, labels in zip(X, Y):
        found = tagger.tag(items)
        assert found == labels == tagger.tag()
        found[0] = "changed"
        assert tagger.tag() == labels
        best = tagger.probability(labels)
        assert 0.5 < best < 1 and tagger.probability([label.encode() for label in labels]) == best
        for position, label in enumerate(labels):
            marginals = {label: tagger.marginal(label, position) for label in tagger.labels()}
            assert math.isclose(sum(marginals.values()), 1, abs_tol=1e-6)
            assert max(marginals, key=marginals.get) == label
            assert tagger.marginals()[position] == marginals
    assert tagger.tag([]) == [] and tagger.probability([]) == 0.0 and tagger.marginals() == []


def test_tagger_errors(tagger, path, tmp_path):
    fresh = pycrfsuite.Tagger()
    for use in (
        fresh.labels, fresh.tag, lambda: fresh.tag(X[0]), lambda: fresh.set(X[0]), lambda: fresh.probability(["DET"]),
        lambda: fresh.marginal("DET", 0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="open"):
            use()
    for use in (fresh.info, fresh.dump):
        with pytest.raises(RuntimeError):
            use()
    fresh.close()
    with pytest.raises(ValueError, match="no sequence"):
        tagger.tag()
    tagger.set(X[1])
    with pytest.raises(ValueError):
        tagger.probability(["DET"])
    with pytest.raises(RuntimeError, match="'ADJ'"):
        tagger.probability(["DET", "ADJ"])
    with pytest.raises(RuntimeError):
        tagger.marginal("ADJ", 0)
    for position in (-1, 2):
        with pytest.raises(ValueError):
            tagger.marginal("DET", position)
    with pytest.raises(FileNotFoundError):
        fresh.open(str(tmp_path / "nowhere"))
    whole = open(path, "rb").read()
    for bad in (b"", b"foo", b"lCRFfoo", b"lCRFfoo" * 100, whole[:-1], whole[:48], whole[:200] + bytes(len(whole) - 200)):
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(ValueError, match="bad"):
            fresh.open(tmp_path / "bad")
        with pytest.raises(ValueError):
            fresh.open_inmemory(bad)


def test_a_bad_sequence_leaves_no_old_one(tagger):
    tagger.tag(X[0])
    with pytest.raises(ValueError):
        tagger.tag([{"a": None}])
    with pytest.raises(ValueError, match="no sequence"):
        tagger.probability(Y[0])


def test_closing(path):
    tagger = pycrfsuite.Tagger()
    with tagger.open(path) as same:
        assert same is tagger
    with pytest.raises(ValueError):
        tagger.labels()
    tagger.open_inmemory(open(path, "rb").read())
    assert tagger.tag(X[1]) == Y[1]


def test_pickle(tagger):
    again = pickle.loads(pickle.dumps(tagger))
    assert [again.tag(items) for items in X] == Y
    with pytest.raises(ValueError):
        pickle.loads(pickle.dumps(pycrfsuite.Tagger())).labels()


def test_one_tagger_in_several_threads(tagger):
    wrong = []

    def work(number):
        for _ in range(300):
            if tagger.tag(X[number]) != Y[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_info_and_dump(tagger, tmp_path, capsys):
    info = tagger.info()
    assert info.header["magic"] == "lCRF" and info.header["num_labels"] == "3" and info.header["off_features"] == "0x30"
    assert info.labels == {"DET": "0", "NOUN": "1", "VERB": "2"} and len(info.attributes) == 9
    assert sorted(map(int, info.attributes.values())) == list(range(9))
    assert set(info.transitions) == {("DET", "NOUN"), ("NOUN", "VERB")}
    assert info.state_features["w:the", "DET"] > 0
    tagger.dump(str(tmp_path / "dump"))
    tagger.dump()
    text = (tmp_path / "dump").read_text()
    assert capsys.readouterr().out == text and "\n  (1) DET --> NOUN: " in text and "\n      0: DET\n" in text
    parser = CRFsuiteDumpParser()
    for line in text.splitlines(keepends=True):
        parser.feed(line)
    assert parser.result.header == info.header and parser.result.attributes == info.attributes
    assert {key: f"{value:f}" for key, value in info.state_features.items()} == {
        key: f"{value:f}" for key, value in parser.result.state_features.items()
    }


def test_names_with_newlines_and_arrows():
    odd = ["a\nb", "c: 1.0", "d --> DET", "(0) e --> DET: 0.5", " f ", "g\n", "\n  (0) h", "FILEHEADER = {", "1: i", "}x"]
    trainer = pycrfsuite.Trainer(verbose=False, params={"c2": 0.1})
    trainer.append([[name] for name in odd], ["DET", "a --> b"] * 5)
    stored = []
    trainer._run(-1, stored.append)
    tagger = pycrfsuite.Tagger()
    tagger.open_inmemory(stored[0])
    info = tagger.info()
    assert set(info.attributes) == set(odd) and {name for name, _ in info.state_features} == set(odd)
    parser = CRFsuiteDumpParser()
    for line in "".join(dump_lines(info)).splitlines(keepends=True):
        parser.feed(line)
    plain = {name for name in odd if "\n" not in name and name.strip() == name and name[0] not in "F1"}
    assert plain <= set(parser.result.attributes) and parser.result.labels == info.labels


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_models_are_those_of_the_library(algorithm):
    """The bytes that a trainer stores give the labels of the model that it learned."""
    stored = []
    make_trainer(algorithm=algorithm)._run(-1, stored.append)
    tagger = pycrfsuite.Tagger()
    tagger.open_inmemory(stored[0])
    model = trellis.Model.from_bytes(stored[0])
    for items in X:
        assert tagger.tag(items) == model.tag(items)
    assert model.to_crfsuite() == stored[0]


def test_the_objective_is_crfsuites():
    """-log P + c2 |w|^2 of the stored weights, by the tagger's own probabilities, is the loss that the log names."""
    trainer = make_trainer(params={"c2": 0.3, "epsilon": 1e-7, "delta": 0.0})
    stored = []
    trainer._run(-1, stored.append)
    tagger = pycrfsuite.Tagger()
    tagger.open_inmemory(stored[0])
    info = tagger.info()
    square = sum(weight * weight for weights in (info.transitions, info.state_features) for weight in weights.values())
    loss = 0.3 * square
    for items, labels in zip(X, Y):
        tagger.set(items)
        loss -= math.log(tagger.probability(labels))
    assert math.isclose(loss, trainer.logparser.last_iteration["loss"], rel_tol=1e-5)


@pytest.mark.parametrize("algorithm", ["ap", "pa", "arow"])
def test_epsilon_stops_online_learners(algorithm):
    trainer = make_trainer(algorithm=algorithm, params={"epsilon": 1e-9, "max_iterations": 50})
    trainer.train("")
    assert len(trainer.logparser.iterations) < 50 and trainer.logparser.last_iteration["loss"] == 0


def test_constants():
    assert pycrfsuite.CRFSUITE_VERSION == "0.12.2"
    error = pycrfsuite.CRFSuiteError(-5)
    assert isinstance(error, Exception) and error.code == -5


@pytest.mark.parametrize("algorithm, name, value", [
    ("lbfgs", "linesearch", "Backtracking"), ("lbfgs", "max_linesearch", 5), ("l2sgd", "calibration.eta", 0.5),
    ("l2sgd", "calibration.samples", "10"),
])
def test_parameters_without_effect_warn(algorithm, name, value):
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    with pytest.warns(UserWarning, match=f"{name}=.* has no effect: "):
        trainer.set_params({name: value})
    assert trainer.get(name) == type(trainer.get(name))(value)
    assert "Has no effect" in trainer.help(name)


def test_other_parameters_do_not_warn(recwarn):
    for algorithm in ("lbfgs", "l2sgd", "ap", "pa", "arow"):
        trainer = pycrfsuite.Trainer(algorithm, verbose=False)
        trainer.set_params(trainer.get_params())
    pycrfsuite.Trainer(params={"c1": 0.1, "c2": 0.2, "epsilon": 0.1, "num_memories": 3}, verbose=False)
    assert not recwarn.list


def test_a_label_with_a_zero_byte_is_refused_at_once():
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["a"]], ["A"])
    with pytest.raises(ValueError, match="sequence 1, position 1: a label must not have a zero byte: 'B.x00'"):
        trainer.append([["a"], ["b"]], ["A", "B\0"])
    trainer.append([["b"]], ["B"])  # nothing of the refused one is left
    trainer.train("")
