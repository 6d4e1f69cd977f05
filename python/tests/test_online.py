"""The online learner."""

import pickle

import pytest

import trellis
from conftest import LABELS, SENTENCES


def test_one_pass_equals_a_training(data):
    """An epoch of one sequence, which has one order only."""
    one = [sum(data[0], [])], [sum(data[1], [])]
    learner = trellis.OnlineLearner(type="perceptron").partial_fit(*one)
    trained = trellis.train(*one, type="perceptron", epochs=1, all_features=True)

    def weights(model):
        return {(w.attribute, w.labels): w.weight for w in model.weights() if w.weight}

    assert weights(learner.model()) == pytest.approx(weights(trained))


def test_a_pickled_learner_goes_on(data):
    learner = trellis.OnlineLearner(type="crf", algorithm="sgd").partial_fit(*data)
    copy = pickle.loads(pickle.dumps(learner))
    assert copy.sequences == learner.sequences == 4
    for each in learner, copy:
        each.partial_fit(*data)
    assert copy.model().to_bytes() == learner.model().to_bytes()
    assert "8 sequences" in repr(copy)


def test_new_labels_and_attributes(data):
    learner = trellis.OnlineLearner(type="perceptron").partial_fit([[["a"]]], [["A"]])
    assert learner.model().labels == ["A"]
    for _ in range(10):
        learner.partial_fit(*data)
    assert learner.model().labels == ["A", "DET", "NOUN", "VERB"]
    assert learner.model().tag_many(data[0]) == LABELS


def test_templates_columns_and_a_first_model():
    learner = trellis.OnlineLearner(type="perceptron", templates="node word\n")
    for _ in range(5):
        learner.partial_fit(SENTENCES, LABELS)
    model = learner.model()
    assert model.tag_many(SENTENCES) == LABELS
    more = trellis.OnlineLearner(model, type="perceptron").partial_fit([["new", "word"]], [["DET", "NOUN"]])
    assert more.model().tag(["the", "dog", "runs"]) == LABELS[2]
    rows = [[("x", word) for word in sentence] for sentence in SENTENCES]
    named = trellis.OnlineLearner(type="perceptron", templates="node word\n", columns=["other", "word"])
    for _ in range(5):
        named.partial_fit(rows, LABELS)
    assert named.model().tag_many(rows) == LABELS


def test_weights_of_sequences(data):
    plain = trellis.OnlineLearner(type="perceptron").partial_fit(*data)
    weighted = trellis.OnlineLearner(type="perceptron").partial_fit(*data, sample_weight=[3, 1, 1, 1])
    assert plain.model().to_bytes() != weighted.model().to_bytes()


def test_bad_arguments(data):
    learner = trellis.OnlineLearner(type="perceptron")
    with pytest.raises(ValueError):
        learner.model()
    with pytest.raises(ValueError, match="differ"):
        learner.partial_fit(data[0], LABELS[1:])
    with pytest.raises(TypeError, match="sequence 1, position 0, key 'x'"):
        learner.partial_fit([[["a"]], [{"x": None}]], [["A"], ["B"]])
    with pytest.raises(ValueError, match="position 1: the numbers of items"):
        learner.partial_fit([[["a"], ["b"]]], [["A"]])
    assert learner.sequences == 0
    with pytest.raises(TypeError):
        learner.partial_fit([1], [["A"]])
    with pytest.raises(ValueError):
        trellis.OnlineLearner(type="hmm")
    with pytest.raises(ValueError):
        trellis.OnlineLearner.from_bytes(b"nothing")
    with pytest.raises(ValueError):
        trellis.OnlineLearner(templates="nonsense(\n")
