"""trellis.sklearn_crfsuite: the estimator, metrics, files and pickles of sklearn-crfsuite."""

import glob
import inspect
import os
import pickle
import subprocess
import sys
import tempfile

import pytest

numpy = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import Pipeline  # noqa: E402

from trellis import pycrfsuite, sklearn_crfsuite  # noqa: E402
from trellis.sklearn_crfsuite import CRF, metrics, scorers, utils  # noqa: E402
from trellis.sklearn_crfsuite._fileresource import FileResource  # noqa: E402
from trellis.sklearn_crfsuite.trainer import LinePerIterationTrainer  # noqa: E402

X = [
    [{"w": "the"}, {"w": "cat"}, {"w": "sat"}],
    [{"w": "a"}, {"w": "dog"}],
    [{"w": "dogs"}, {"w": "run"}],
    [{"w": "the"}, {"w": "dog"}, {"w": "ran"}],
] * 3
Y = [["DET", "NOUN", "VERB"], ["DET", "NOUN"], ["NOUN", "VERB"], ["DET", "NOUN", "VERB"]] * 3
ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]


@pytest.fixture(autouse=True)
def no_temporary_files(monkeypatch, tmp_path):
    """Nothing is left where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    os.mkdir(tmp_path / "temporary")
    yield
    import gc

    gc.collect()
    assert os.listdir(tmp_path / "temporary") == []


def test_arguments():
    names = (
        "algorithm min_freq all_possible_states all_possible_transitions c1 c2 max_iterations num_memories epsilon period "
        "delta linesearch max_linesearch calibration_eta calibration_rate calibration_samples calibration_candidates "
        "calibration_max_trials pa_type c error_sensitive averaging variance gamma"
    ).split()
    parameters = inspect.signature(CRF).parameters
    last = {"verbose": False, "model_filename": None, "keep_tempfiles": False, "trainer_cls": None}
    assert {name: p.default for name, p in parameters.items()} == {**dict.fromkeys(names), **last}
    assert list(parameters) == names + list(last)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_fit_and_predict(algorithm):
    crf = CRF(algorithm)
    assert crf.fit(X, Y) is crf
    found = crf.predict(X)
    assert isinstance(found, numpy.ndarray) and found.dtype == object and found.shape == (12,)
    assert [list(labels) for labels in found] == Y and crf.score(X, Y) == 1.0
    assert crf.predict(X[:1]).shape == (1, 3)  # as numpy makes it of lists of the same length
    marginals = crf.predict_marginals(X[:2])
    assert [len(sequence) for sequence in marginals] == [3, 2]
    for items in X[:4]:
        for at in crf.predict_marginals_single(items):
            assert set(at) == set(crf.classes_) and abs(sum(at.values()) - 1) < 1e-6
    assert crf.training_log_.iterations


def test_parameters_reach_the_trainer():
    made = []

    class Recorder(pycrfsuite.Trainer):
        def __init__(self, algorithm, params, verbose):
            made.append((algorithm, params, verbose))
            super().__init__(algorithm, params, verbose)

    CRF(trainer_cls=Recorder).fit(X, Y)
    CRF("pa", pa_type=2, c=0.5, min_freq=0, averaging=False, trainer_cls=Recorder).fit(X, Y)
    assert made[0] == (None, {}, False)
    assert made[1] == ("pa", {"type": 2, "c": 0.5, "feature.minfreq": 0, "averaging": False}, False)
    with pytest.raises(ValueError, match="c1"):
        CRF("arow", c1=0.5).fit(X, Y)


def test_a_trainer_of_the_users_own():
    class Own:
        def __init__(self, algorithm, params, verbose):
            self.inner = pycrfsuite.Trainer(algorithm, params, verbose)

        def append(self, *arguments):
            self.inner.append(*arguments)

        def train(self, path, holdout=-1):
            self.inner.train(path, holdout)

    assert CRF(trainer_cls=Own).fit(X, Y).score(X, Y) == 1.0


def test_dev_data(capsys):
    crf = CRF(verbose=True, max_iterations=3).fit(X, Y, X_dev=X[:4], y_dev=Y[:4])
    assert crf.training_log_.last_iteration["item_accuracy_float"] == 1.0
    out = capsys.readouterr().out
    assert "Iter 1 " in out and "F1=1.000" in out and "\nLabel" in out and "Support" in out
    for wrong in ({"X_dev": X}, {"y_dev": Y}):
        with pytest.raises(ValueError):
            CRF().fit(X, Y, **wrong)


def test_before_fit():
    crf = CRF()
    for name in "tagger_ classes_ size_ num_attributes_ attributes_ state_features_ transition_features_".split():
        assert getattr(crf, name) is None
    for method in (crf.predict, crf.predict_marginals):
        with pytest.raises(NotFittedError):
            method(X)


def test_attributes():
    crf = CRF(c2=0.1).fit(X, Y)
    assert crf.classes_ == ["DET", "NOUN", "VERB"] and crf.size_ > 1000
    assert crf.num_attributes_ == len(crf.attributes_) == 8 and "w:the" in crf.attributes_
    assert crf.state_features_["w:the", "DET"] > 0 and ("DET", "NOUN") in crf.transition_features_
    assert all(isinstance(weight, float) for weight in crf.state_features_.values())
    crf.fit([[{"v": "x"}, {"v": "y"}]], [["A", "B"]])  # forgets the first model
    assert crf.classes_ == ["A", "B"] and crf.attributes_ == ["v:x", "v:y"]


def test_pickle_and_files(tmp_path):
    crf = CRF(c2=0.1, verbose=False).fit(X, Y)
    again = pickle.loads(pickle.dumps(crf))
    assert again.score(X, Y) == 1.0 and again.c2 == 0.1 and again.training_log_.iterations == crf.training_log_.iterations
    assert pickle.loads(pickle.dumps(CRF())).tagger_ is None
    path = str(tmp_path / "m.crfsuite")
    kept = CRF(model_filename=path).fit(X, Y)
    assert os.path.exists(path) and CRF(model_filename=path).score(X, Y) == 1.0
    assert open(path, "rb").read() not in pickle.dumps(kept)
    assert pickle.loads(pickle.dumps(kept)).score(X, Y) == 1.0
    with pycrfsuite.Tagger().open(path) as tagger:
        assert tagger.tag(X[0]) == Y[0]


def test_the_name_of_a_model_in_memory():
    crf = CRF().fit(X, Y)
    name = crf.modelfile.name
    with pycrfsuite.Tagger().open(name) as tagger:
        assert tagger.tag(X[0]) == Y[0]
    assert name == crf.modelfile.name and pickle.loads(pickle.dumps(crf)).score(X, Y) == 1.0
    crf.fit(X, Y)
    assert not os.path.exists(name)
    other = crf.modelfile.name
    del crf
    assert not os.path.exists(other)
    kept = CRF(keep_tempfiles=True).fit(X, Y)
    name = kept.modelfile.name
    del kept
    os.unlink(name)


def test_nothing_is_left_when_the_interpreter_ends(tmp_path):
    code = (
        "from trellis.sklearn_crfsuite import CRF\n"
        "crf = CRF().fit([[{'a': 'b'}]], [['x']])\n"
        "import os; assert os.path.exists(crf.modelfile.name)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert glob.glob(str(tmp_path / "model*")) == []


def test_scikit_learn():
    crf = CRF(c2=0.1, max_iterations=20)
    assert repr(crf) == "CRF(c2=0.1, max_iterations=20)"
    copy = clone(crf)
    assert copy.get_params() == crf.get_params() and copy.set_params(c2=5).c2 == 5
    assert cross_val_score(crf, X, Y, cv=3, n_jobs=2).shape == (3,)
    search = GridSearchCV(CRF(), {"c2": [0.01, 1.0]}, cv=2, n_jobs=2, scoring=scorers.flat_accuracy).fit(X, Y)
    assert search.best_estimator_.score(X, Y) == 1.0
    assert scorers.sequence_accuracy(search.best_estimator_, X, Y) == 1.0
    pipeline = Pipeline([("crf", CRF())]).fit(X, Y, crf__X_dev=X, crf__y_dev=Y)
    assert pipeline.predict(X)[0] == Y[0]


def test_metrics():
    true, predicted = [["x", "z", "y"], ["x", "x"]], [["y", "z", "y"], ["x", "y"]]
    assert metrics.flat_accuracy_score(true, predicted) == 3 / 5
    for metric in (metrics.flat_precision_score, metrics.flat_recall_score, metrics.flat_f1_score):
        assert metric(true, predicted, average="micro") == 3 / 5
        with pytest.raises(ValueError, match="multiclass"):
            metric(true, predicted)
    macro = metrics.flat_f1_score(true, predicted, average="macro")
    assert metrics.flat_fbeta_score(true, predicted, beta=1, average="macro") == macro
    assert "precision" in metrics.flat_classification_report(true, predicted, labels=["x", "y"], digits=3)
    assert metrics.sequence_accuracy_score(true, predicted) == 0 == metrics.sequence_accuracy_score([], [])
    assert metrics.sequence_accuracy_score([[1, 2], [3], [4]], numpy.array([[1, 2], [4], [4]], dtype=object)) == 2 / 3
    assert utils.flatten([[1, 2], [], [3]]) == [1, 2, 3]


def test_two_labels_without_average():
    true, predicted = [["x", "y"], ["y", "y"]], [["x", "x"], ["y", "y"]]
    for metric in (metrics.flat_precision_score, metrics.flat_recall_score, metrics.flat_f1_score):
        assert metric(true, predicted) == metric(true, predicted, average="weighted")
        assert metric(true, predicted, pos_label="x") != metric(true, predicted)
        assert metric([[0, 1]], [[0, 1]]) == 1.0
    assert metrics.flat_fbeta_score(true, predicted, 2) == metrics.flat_fbeta_score(true, predicted, 2, average="weighted")


def test_line_per_iteration_trainer_is_a_trainer():
    assert issubclass(LinePerIterationTrainer, pycrfsuite.Trainer)
    assert sklearn_crfsuite.CRF is CRF


def test_file_resource():
    resource = FileResource(suffix=".s", prefix="p")
    assert resource.name is None and resource.read() is None
    resource.put(b"bytes")
    assert resource.name.endswith(".s") and resource.read() == b"bytes"
    again = pickle.loads(pickle.dumps(resource))
    assert again.read() == b"bytes" and again.name != resource.name
    resource.cleanup()
    assert resource.name is None
    with pytest.raises(ValueError):
        named = FileResource("x")
        named.name = None
        named.ensure_name()
