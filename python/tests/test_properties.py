"""Properties that hold for any items, with hypothesis where it is installed."""

import pickle

import pytest

hypothesis = pytest.importorskip("hypothesis")

from hypothesis import given, settings, strategies as st  # noqa: E402

import trellis  # noqa: E402

settings.register_profile("quick", max_examples=30, deadline=None, database=None)
settings.load_profile("quick")

names = st.text(max_size=12)  # without surrogates; with newlines, zero bytes and everything else
numbers = st.floats(allow_nan=False, allow_infinity=False, width=64).filter(lambda x: abs(x) < 1e30)
scalars = names | numbers | st.booleans() | st.integers(-(2**53), 2**53)
items = st.dictionaries(names, scalars | st.dictionaries(names, scalars, max_size=3) | st.lists(names, max_size=3), max_size=5)


def flat(item, prefix=""):
    """The attributes of an item by python-crfsuite's rules, a second time in Python."""
    found = []
    for key, value in item.items():
        if isinstance(value, str):
            found.append((f"{prefix}{key}:{value}", 1.0))
        elif isinstance(value, dict):
            found += flat(value, f"{prefix}{key}:")
        elif isinstance(value, list):
            found += [(f"{prefix}{key}:{name}", 1.0) for name in value]
        else:
            found.append((prefix + key, float(value)))
    return found


@given(st.lists(items, min_size=1, max_size=4))
def test_items_are_flattened_by_the_rules(sequence):
    learner = trellis.OnlineLearner(type="perceptron")
    labels = [str(i) for i in range(len(sequence))]
    learner.partial_fit([sequence], [labels])
    flattened = trellis.OnlineLearner(type="perceptron")
    flattened.partial_fit([[_summed(flat(item)) for item in sequence]], [labels])

    def weights(model):
        return {(w.attribute, w.labels): w.weight for w in model.weights()}

    assert weights(learner.model()) == pytest.approx(weights(flattened.model()), rel=1e-9)


def _summed(pairs):
    total = {}
    for name, value in pairs:
        total[name] = total.get(name, 0.0) + value
    return total


@given(st.lists(names, min_size=2, max_size=6, unique=True))
def test_names_survive_a_model_its_bytes_and_its_pickle(attributes):
    X, y = [[[name] for name in attributes]], [[f"L{i}" for i in range(len(attributes))]]
    model = trellis.train(X, y, type="crf", epochs=5)
    for same in trellis.Model.from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model)):
        assert {w.attribute for w in same.weights() if w.kind == "node"} == set(attributes)
        assert same.tag(X[0]) == model.tag(X[0])


@given(st.lists(names.filter(lambda text: "\0" not in text), min_size=1, max_size=5))
def test_labels_of_any_text(labels):
    model = trellis.train([[[f"a{i}"] for i in range(len(labels))]], [labels], type="perceptron", epochs=30)
    assert set(model.labels) == set(labels)
    assert set(model.tag([["a0"]])) <= set(labels)


@given(st.recursive(st.none() | names | numbers, lambda x: st.lists(x) | st.dictionaries(names, x) | st.tuples(x, x)))
def test_anything_is_an_item_or_an_exception(thing):
    corpus = trellis.Corpus()
    for sequence in thing, [thing], [[thing]]:
        try:
            corpus.add(sequence)
        except (TypeError, ValueError):
            pass
    assert corpus.tokens >= 0


@given(st.lists(st.lists(st.floats(-50, 50, width=32), min_size=3, max_size=3), min_size=1, max_size=5))
def test_marginals_of_a_chain_sum_to_one(nodes):
    for row in trellis.Chain(3).marginals([nodes])[0].tolist():
        assert sum(row) == pytest.approx(1, abs=1e-4)
