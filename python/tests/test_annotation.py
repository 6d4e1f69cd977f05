"""Spans, explanations, pictures and what notebooks show."""

import itertools
import math
import xml.etree.ElementTree

import pytest

import trellis

TOKENS = [["Anna", "Smith", "lives", "in", "Paris"], ["Paris", "is", "big"], ["Anna", "is", "in", "New", "York"]]
NAMES = [
    ["B-PER", "I-PER", "O", "O", "B-LOC"],
    ["B-LOC", "O", "O"],
    ["B-PER", "O", "O", "B-LOC", "I-LOC"],
]


@pytest.fixture(scope="module")
def names():
    return trellis.train(TOKENS, NAMES, type="crf", l2=0.01)


def test_spans_have_offsets_and_probabilities(names):
    text = "Anna  Smith lives\nin Paris."
    spans = names.spans(TOKENS[0], text)
    assert [(s.type, s.begin, s.end, s.text, s.start_char, s.end_char) for s in spans] == [
        ("PER", 0, 2, "Anna  Smith", 0, 11),
        ("LOC", 4, 5, "Paris", 21, 26),
    ]
    # The probability of a span is that of all labellings that have it.
    best = names.nbest(TOKENS[1], 10**4)
    expected = sum(path.probability for path in best if path.labels[0] == "B-LOC" and path.labels[1] != "I-LOC")
    assert names.spans(TOKENS[1])[0].probability == pytest.approx(expected, abs=1e-5)
    with pytest.raises(ValueError, match="position 4: the text has no 'Paris'"):
        names.annotate(TOKENS[0], "Anna Smith lives in")
    assert names.spans([]) == []


def test_segments():
    templates = "columns word\nnode word\nsegment text(lower(word)) & size\nstep\n"
    model = trellis.train(TOKENS, NAMES, type="crf", templates=templates, segments=True, max_segment=2, l2=0.01)
    assert [model.tag(tokens) for tokens in TOKENS] == NAMES
    best = model.nbest(TOKENS[2], 10**4)
    assert sum(path.probability for path in best) == pytest.approx(1, abs=1e-5)
    york = model.spans(TOKENS[2])[1]
    ends = [path.probability for path in best if path.labels[3:] == ["B-LOC", "I-LOC"]]
    assert (york.text, york.probability) == ("New York", pytest.approx(sum(ends), abs=1e-5))
    assert any("new york" in (part.attribute or "") for row in model.explain(TOKENS[2]) for part in row.contributions)
    assert trellis.Model.from_bytes(model.to_bytes()).tag(TOKENS[0]) == NAMES[0]


def test_annotation(names):
    found = names.annotate(TOKENS[2])
    assert found.labels == NAMES[2] and found.text == "Anna is in New York" and len(found) == 5
    assert found.probability == pytest.approx(names.probability(TOKENS[2], NAMES[2]))
    marginals = names.marginals(TOKENS[2]).tolist()
    for position, label in enumerate(NAMES[2]):
        assert found.probabilities[position] == pytest.approx(marginals[position][names.labels.index(label)])
    assert "Anna/B-PER" in repr(found)
    html = found._repr_html_()
    assert "<mark" in html and "New York" in html and "LOC" in html and "%" in html
    xml.etree.ElementTree.fromstring(html.replace("&nbsp;", " "))


def test_annotation_of_odd_items(data, model):
    assert model.annotate(data[0][0]).tokens == ["the", "cat"]
    assert model.annotate([["<b>", "x"]])._repr_html_().count("&lt;b&gt;") == 1
    plain = trellis.train(*data, type="perceptron").annotate(data[0][0])
    assert plain.probability is None and plain.probabilities is None and plain.spans == []
    assert "<mark" in plain._repr_html_()


def test_explanations_add_up(model, data):
    rows = model.explain(data[0][2])
    best = model.nbest(data[0][2], 100)
    for position, row in enumerate(rows):
        assert row.token == data[0][2][position]["w"]
        rival = next(path for path in best if path.labels[position] != best[0].labels[position])
        assert row.predicted == best[0].labels[position] and row.runner_up == rival.labels[position]
        assert row.margin == pytest.approx(best[0].score - rival.score, abs=1e-4)
        assert sum(part.difference for part in row.contributions) == pytest.approx(row.margin, abs=1e-4)
        assert 0 < row.runner_up_probability < row.predicted_probability < 1
    html = rows._repr_html_()
    assert html.count("<tr>") == 4 and "runner-up" in html
    xml.etree.ElementTree.fromstring(html.replace("&nbsp;", " "))
    assert len(rows[:2]) == 2 and "DET" in repr(rows)
    only = trellis.train([[["a"]]], [["A"]], type="crf").explain([["a"]])[0]
    assert only.runner_up is None and math.isinf(only.margin)


def test_picture(model, data):
    picture = model.draw(data[0][2])
    assert xml.etree.ElementTree.fromstring(picture).tag.endswith("svg")
    assert picture._repr_svg_() == picture
    with pytest.raises(ValueError):
        model.draw([])
    assert "<table>" in model._repr_html_()


def test_samples_and_entropy(model, data):
    best = model.nbest(data[0][2], 100)
    expected = -sum(path.probability * math.log(path.probability) for path in best)
    assert model.entropy(data[0][2]) == pytest.approx(expected, abs=1e-4)
    drawn = model.sample(data[0][2], 4000, seed=3)
    assert drawn == model.sample(data[0][2], 4000, seed=3)
    share = sum(labels == best[0].labels for labels in drawn) / len(drawn)
    assert share == pytest.approx(best[0].probability, abs=0.04)
    assert all(len(labels) == 3 for labels in itertools.islice(drawn, 10))
    with pytest.raises(ValueError, match="number of samples"):
        model.sample(data[0][0], 0)


def test_weight_dict(model):
    weights = model.weight_dict()
    assert weights["w:the", "DET"] > 0 and weights[None, "DET", "NOUN"] > weights.get((None, "NOUN", "DET"), 0)
    assert len(weights) == len(list(model.weights()))
