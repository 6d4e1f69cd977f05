"""trellis.sklearn: the estimator, with the tools of scikit-learn."""

import os
import pickle

import pytest

numpy = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score  # noqa: E402
from sklearn.pipeline import Pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402

import trellis  # noqa: E402
from trellis._threads import shared_threads  # noqa: E402
from trellis.sklearn import SequenceTagger  # noqa: E402

SENTENCES = [["the", "cat"], ["a", "dog"], ["the", "dog", "runs"], ["cat", "runs"]] * 5
Y = [["DET", "NOUN"], ["DET", "NOUN"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"]] * 5


def attributes(sentences):
    return [[{"w": word} for word in sentence] for sentence in sentences]


X = attributes(SENTENCES)


@pytest.mark.parametrize("type", ["crf", "perceptron", "memm", "mira", "ssvm", "maxent"])
def test_every_learner_of_attributes(type):
    tagger = SequenceTagger(type)
    assert tagger.fit(X, Y) is tagger
    found = tagger.predict(X)
    assert found.shape == (20,) and found.dtype == object and list(found[0]) == ["DET", "NOUN"]
    assert tagger.predict(X[:2]).shape == (2,)  # also where all have the same length
    assert tagger.score(X, Y) > 0.8 and isinstance(tagger.model_, trellis.Model)
    assert list(tagger.classes_) == ["DET", "NOUN", "VERB"]
    if tagger.model_.has_probabilities:
        proba = tagger.predict_proba(X[:3])
        assert [array.shape for array in proba] == [(2, 3), (2, 3), (3, 3)]
        assert numpy.allclose([row.sum() for array in proba for row in array], 1, atol=1e-5)
    else:
        with pytest.raises(ValueError):
            tagger.predict_proba(X[:1])


def test_the_same_as_train():
    model = trellis.train(X, Y, type="crf", l2=0.3, seed=5)
    assert SequenceTagger(l2=0.3, seed=5, threads=1).fit(X, Y).model_.to_bytes() == model.to_bytes()


def test_tokens_and_columns():
    assert SequenceTagger(features="pos").fit(SENTENCES, Y).score(SENTENCES, Y) == 1.0
    assert SequenceTagger("hmm").fit(SENTENCES, Y).score(SENTENCES, Y) == 1.0
    rows = [[(word, word[-1]) for word in sentence] for sentence in SENTENCES]
    tagger = SequenceTagger(templates="node last[0]\nnode word[0]\nstep\n", columns=["word", "last"])
    assert tagger.fit(rows, Y).score(rows, Y) == 1.0


def test_parameters():
    tagger = SequenceTagger(l2=0.5, lambda_=None)
    assert repr(tagger) == "SequenceTagger(l2=0.5)"
    assert {"type", "columns", "templates", "l1", "l2", "algorithm", "min_count", "seed", "threads"} <= set(
        tagger.get_params()
    )
    assert not {"model", "dev", "checkpoint", "from"} & set(tagger.get_params())
    copy = clone(tagger)
    assert copy.get_params() == tagger.get_params() and copy is not tagger
    assert copy.set_params(type="maxent", l2=3).get_params()["l2"] == 3
    with pytest.raises(ValueError):
        tagger.set_params(c2=1)
    with pytest.raises(TypeError, match="c2"):
        SequenceTagger(c2=1)
    with pytest.raises(ValueError, match="mbest"):
        SequenceTagger(mbest=3).fit(X, Y)


def test_not_fitted():
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(SequenceTagger(), method)(X)


def test_sample_weights():
    ambiguous = [[{"w": "x"}], [{"w": "x"}]]
    labels = [["A"], ["B"]]
    for weights, expected in (([1, 3], "B"), ([3, 1], "A")):
        tagger = SequenceTagger(l2=0.01).fit(ambiguous, labels, sample_weight=weights)
        assert tagger.predict(ambiguous)[0] == [expected]
        assert tagger.score(ambiguous, labels, sample_weight=weights) == 0.75
    with pytest.raises(ValueError, match="sample_weight"):
        SequenceTagger().fit(X, Y, sample_weight=[1])
    with pytest.raises(ValueError):
        tagger.score(X, Y, sample_weight=[1])
    with pytest.raises(ValueError, match="sequence 0"):
        tagger.score([X[0]], [["A"]])


def test_partial_fit():
    for type, options in (("perceptron", {}), ("mira", {}), ("crf", {}), ("memm", {"algorithm": "sgd"})):
        tagger = SequenceTagger(type, **options)
        for _ in range(4):
            assert tagger.partial_fit(X[:4], Y[:4]) is tagger
        assert tagger.score(X, Y) == 1.0
        tagger.partial_fit([[{"w": "new"}]], [["ADJ"]], sample_weight=[2.0])
        assert "ADJ" in tagger.classes_
    with pytest.raises(ValueError):
        SequenceTagger("hmm").partial_fit(X, Y)


def test_partial_fit_goes_on():
    fitted = SequenceTagger(l2=0.1).fit(X, Y)
    assert fitted.partial_fit(X[:1], Y[:1]).score(X, Y) == 1.0
    one, other = SequenceTagger("perceptron"), SequenceTagger("perceptron")
    one.partial_fit(X[:10], Y[:10])
    other.partial_fit(X[:10], Y[:10])
    other = pickle.loads(pickle.dumps(other))  # with the state of the learner
    assert one.partial_fit(X[10:], Y[10:]).model_.to_bytes() == other.partial_fit(X[10:], Y[10:]).model_.to_bytes()
    fresh = SequenceTagger("perceptron").fit(X, Y)
    assert one.fit(X, Y).model_.to_bytes() == fresh.model_.to_bytes()  # fit() starts from scratch


def test_dev_data():
    tagger = SequenceTagger(epochs=30).fit(X, Y, dev=(X[:4], Y[:4]))
    assert "dev" in str(tagger.model_.info)


def test_scikit_learn_tools():
    search = GridSearchCV(SequenceTagger(), {"l2": [0.01, 100.0], "type": ["crf", "maxent"]}, cv=3, n_jobs=2).fit(X, Y)
    assert search.best_params_["l2"] == 0.01 and search.best_estimator_.score(X, Y) == 1.0
    assert cross_val_score(SequenceTagger("perceptron"), X, Y, cv=3, n_jobs=2).shape == (3,)
    assert cross_val_predict(SequenceTagger(), X, Y, cv=3).shape == (20,)
    pipeline = Pipeline([("attributes", FunctionTransformer(attributes)), ("tagger", SequenceTagger(l2=0.1))])
    pipeline.fit(SENTENCES, Y, tagger__sample_weight=[1.0] * 20)
    again = pickle.loads(pickle.dumps(pipeline))
    assert again.score(SENTENCES, Y) == 1.0 and list(again.predict(SENTENCES)) == list(pipeline.predict(SENTENCES))


def test_threads_of_workers(monkeypatch):
    for value, expected in (("3", 3), ("2,4", 2), ("", 0), ("many", 0), ("²", 0), ("99999", 256)):
        monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", value)
        assert shared_threads() == expected
