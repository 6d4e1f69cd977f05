"""Items of any shape: what ItemSequence makes of them, against a second conversion in Python."""

import math
import pickle

import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import strategies as st  # noqa: E402

from trellis import pycrfsuite  # noqa: E402

# Any character but lone surrogates, which UTF-8 does not have; newlines, colons and zero bytes are among them.
texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=8)
names = texts | texts.map(str.encode)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**300), 10**300) | st.booleans()
values = st.recursive(
    names | numbers,
    lambda inner: st.dictionaries(names, inner, max_size=3) | st.lists(names, max_size=3) | st.sets(names, max_size=3),
    max_leaves=8,
)
items = st.dictionaries(names, values, max_size=4) | st.lists(names, max_size=4)
settings = hypothesis.settings(max_examples=60, deadline=None, derandomize=True)


def text_of(name):
    return name if isinstance(name, str) else name.decode()


def attributes_of(item):
    """(attribute, value) of an item, in order."""
    if not isinstance(item, dict):
        for name in item:
            yield text_of(name), 1.0
        return
    for key, value in item.items():
        key = text_of(key)
        if isinstance(value, (str, bytes)):
            yield f"{key}:{text_of(value)}", 1.0
        elif isinstance(value, (dict, list, set)):
            for name, number in attributes_of(value):
                yield f"{key}:{name}", number
        else:
            yield key, float(value)


def expected(item):
    sums = {}
    for name, value in attributes_of(item):
        sums[name] = sums.get(name, 0.0) + value
    return sums


@settings
@hypothesis.given(st.lists(items, max_size=4))
def test_items_are_converted(sequence):
    converted = pycrfsuite.ItemSequence(sequence)
    found = converted.items()
    assert found == [expected(item) for item in sequence] and len(converted) == len(sequence)
    if all(math.isfinite(value) for item in found for value in item.values()):
        assert pycrfsuite.ItemSequence(found).items() == found
        assert pickle.loads(pickle.dumps(converted)).items() == found


@settings
@hypothesis.given(st.lists(items.filter(bool), min_size=1, max_size=4), st.data())
def test_models_keep_names(sequence, data):
    """Names with newlines, arrows and anything but zero bytes come back from the model file."""
    labels = data.draw(st.lists(texts, min_size=len(sequence), max_size=len(sequence)))
    names = [name for item in sequence for name in expected(item)]
    large = any(abs(value) > 1e30 for item in sequence for value in expected(item).values())
    hypothesis.assume(not large and not any("\0" in label for label in labels))
    trainer = pycrfsuite.Trainer("ap", {"max_iterations": 2}, verbose=False)
    if any("\0" in name for name in names):
        with pytest.raises(ValueError, match="zero byte"):
            trainer.append(sequence, labels)
        return
    trainer.append(sequence, labels)
    stored = []
    trainer._run(-1, stored.append)
    tagger = pycrfsuite.Tagger()
    tagger.open_inmemory(stored[0])
    info = tagger.info()
    assert list(info.labels) == list(dict.fromkeys(labels)) and set(info.attributes) <= set(names)
    assert {label for _, label in info.state_features} <= set(labels)
    assert set(tagger.tag(sequence)) <= set(labels)


@settings
@hypothesis.given(st.lists(items | st.none() | st.integers() | texts | st.tuples(st.none()), max_size=3))
def test_bad_items_never_do_more_than_raise(sequence):
    good = all(isinstance(item, (dict, list)) for item in sequence)
    try:
        pycrfsuite.ItemSequence(sequence)
        assert good
    except (TypeError, ValueError):
        assert not good
