"""Scores and comparisons."""

import pytest

import trellis

GOLD = [["B-X", "I-X", "O"], ["O", "B-Y"], ["O"]]
FIRST = [["B-X", "I-X", "O"], ["B-Y", "B-Y"], ["O"]]
SECOND = [["O", "O", "O"], ["O", "B-Y"], ["O"]]


def test_scores():
    scores = trellis.evaluate(GOLD, FIRST)
    assert scores.accuracy == pytest.approx(5 / 6) and scores.sequence_accuracy == pytest.approx(2 / 3)
    assert (scores.precision, scores.recall) == (pytest.approx(2 / 3), 1)
    assert scores.confusion("O", "B-Y") == 1 and scores.confusion("O", "O") == 2
    assert "FB1" in scores.report() and "precision" in scores.report(details=True)
    assert scores.figures["spans_gold"] == 2 and "f1" in repr(scores)
    assert "<table>" in scores._repr_html_()


def test_labels_that_are_no_spans():
    scores = trellis.evaluate([["DET", "NOUN"]], [["DET", "VERB"]])
    assert scores.f1 is None and scores.accuracy == 0.5
    assert "VERB" in scores._repr_html_()


def test_comparison():
    found = trellis.compare(GOLD, FIRST, SECOND, seed=2)
    assert found.figures["exact"] and 0 < found.p_value() <= 1
    assert found.p_value("accuracy") == found.figures["accuracy"]["p"]
    assert "McNemar" in found.report() or "mcnemar" in found.report().lower()
    # Three sequences, of which two differ: the difference of one sign is as large in 2 of 4 exchanges or more.
    assert found.p_value("sequence_accuracy") == 1
    with pytest.raises(ValueError, match="no comparison by 'f2'"):
        found.p_value("f2")
    same = trellis.compare(GOLD, FIRST, FIRST)
    assert same.p_value() == 1


def test_bootstrap():
    low, high = trellis.evaluate(GOLD * 20, FIRST * 20, bootstrap=200).figures["intervals"]["accuracy"]
    assert low <= 5 / 6 <= high and low < high


def test_evaluating_a_model(model, data):
    assert model.evaluate(*data).accuracy == 1


def test_bad_arguments():
    with pytest.raises(ValueError, match="differ"):
        trellis.evaluate(GOLD, FIRST[:2])
    with pytest.raises(ValueError, match="sequence 1: the numbers of gold labels"):
        trellis.evaluate(GOLD, [FIRST[0], ["O"], ["O"]])
    with pytest.raises(TypeError, match="sequence 0, position 1: a label must be str"):
        trellis.evaluate([["O", 1]], [["O", "O"]])
    with pytest.raises(TypeError, match="unknown option"):
        trellis.evaluate(GOLD, FIRST, bootstraps=3)
