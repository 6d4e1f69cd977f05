"""What items become, and what is said about items that cannot be converted."""

import pytest

import trellis


def names(item):
    model = trellis.train([[item, ["other"]]], [["A", "B"]], type="crf", epochs=3)
    return {w.attribute for w in model.weights() if w.kind == "node"} - {"other"}


@pytest.mark.parametrize(
    "item, expected",
    [
        (["a", "b"], {"a", "b"}),
        (("a", b"b"), {"a", "b"}),
        ({"a": "b"}, {"a:b"}),
        ({"a:b": "c"}, {"a:b:c"}),
        ({"a": 2.0, "b": True, "c": 3}, {"a", "b", "c"}),
        ({"a": {"b": {"c": "d"}, "e": 1}}, {"a:b:c:d", "a:e"}),
        ({"a": ["x", "y"]}, {"a:x", "a:y"}),
        ({"a": {"x"}}, {"a:x"}),
        ({"": ""}, {":"}),
        ({"é": "ü"}, {"é:ü"}),
        (["new\nline", "zero\0byte"], {"new\nline", "zero\0byte"}),
        ({"a": {}}, set()),
        ({"a": b"\xff"}, {"a:\udcff"}),
    ],
)
def test_attributes(item, expected):
    assert names(item) == expected


@pytest.mark.parametrize(
    "item, kind, message",
    [
        ({"x": None}, TypeError, "sequence 1, position 1, key 'x': a value must be"),
        ({"x": (1, 2)}, TypeError, "sequence 1, position 1, key 'x'"),
        ({"x": {"y": None}}, TypeError, "sequence 1, position 1, key 'y'"),
        ({1: 1.0}, TypeError, "sequence 1, position 1, key 1: a key must be str or bytes, not int"),
        ({"x": float("nan")}, ValueError, "sequence 1, position 1, key 'x': a value must be finite, not nan"),
        ({"x": float("inf")}, ValueError, "sequence 1, position 1, key 'x'"),
        ({"x": {"y": -1e39}}, ValueError, "sequence 1, position 1, key 'y': a value must be at most 3.4e38 in size"),
        ([1], TypeError, "sequence 1, position 1: an attribute must be str or bytes, not int"),
        (5, TypeError, "sequence 1, position 1: an item must be"),
        ("word", TypeError, "sequence 1, position 1: an item must be"),
        ("\ud800", TypeError, "sequence 1, position 1: an item must be"),
    ],
)
def test_bad_items(item, kind, message):
    with pytest.raises(kind) as caught:
        trellis.train([[["a"]], [["a"], item]], [["A"], ["A", "B"]])
    assert message in str(caught.value)


def test_bad_items_in_tagging(model):
    with pytest.raises(TypeError, match="sequence 1, position 0, key 'x'"):
        model.tag_many([[{"w": "the"}], [{"x": None}]])
    assert model.tag([{"w": "the"}, {"w": "cat"}]) == ["DET", "NOUN"]


def test_an_exception_of_an_item_passes():
    class Odd:
        def __float__(self):
            raise ZeroDivisionError("odd")

    with pytest.raises(ZeroDivisionError, match="odd"):
        trellis.train([[{"a": Odd()}]], [["A"]])


def test_items_nested_too_deeply():
    item = {}
    for _ in range(100000):
        item = {"a": item}
    with pytest.raises(RecursionError):
        trellis.Corpus().add([item], ["A"])
    while item:  # so that it is not freed recursively
        item = item["a"]


def test_an_item_that_changes_its_list():
    sequence = []

    class Greedy:
        def __float__(self):
            sequence.clear()
            return 1.0

    sequence += [{"a": Greedy(), "b": 1.0}, ["c"]]
    corpus = trellis.Corpus()
    corpus.add(sequence)
    assert corpus.tokens == 1


@pytest.mark.parametrize(
    "labels, kind, message",
    [
        (["A"], ValueError, "sequence 0, position 1: the numbers of items"),
        (["A", "B", "C"], ValueError, "the numbers of items"),
        (["A", 1], TypeError, "sequence 0, position 1: a label must be str or bytes, not int"),
        (["A", "B\0"], ValueError, "sequence 0, position 1: a label must not have a zero byte: 'B\\x00'"),
    ],
)
def test_bad_labels(labels, kind, message):
    with pytest.raises(kind) as caught:
        trellis.train([[["a"], ["b"]]], [labels])
    assert message in str(caught.value)


def test_generators():
    X = ((item for item in sequence) for sequence in [[["a"], ["b"]], [["b"]]])
    y = (iter(labels) for labels in [["A", "B"], ["B"]])
    model = trellis.train(X, y, type="crf")
    assert model.tag(iter([["a"], ["b"]])) == ["A", "B"]


def test_lengths_of_x_and_y():
    with pytest.raises(ValueError, match="y is shorter than X"):
        trellis.train([[["a"]], [["b"]]], [["A"]])
    with pytest.raises(ValueError, match="y is longer than X"):
        trellis.train([[["a"]]], [["A"], ["B"]])
    with pytest.raises(ValueError, match="y is missing"):
        trellis.train([[["a"]]])
