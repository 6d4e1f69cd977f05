"""Progress of a training as tqdm or lines show it."""

import io
import sys

import pytest

import trellis


@pytest.fixture
def data():
    return [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]


def train(data, stream):
    bar = trellis.Bar(stream)
    model = trellis.train(*data, type="crf", epsilon=0, delta=0, epochs=5, progress=bar)
    bar.close()
    return int(model.info["notes"]["iterations"])


def test_a_bar_of_tqdm(data):
    pytest.importorskip("tqdm")
    stream = io.StringIO()
    iterations = train(data, stream)
    last = stream.getvalue().rstrip().split("\r")[-1]
    assert f"{iterations}/5 [" in last and "objective=" in last
    assert stream.getvalue().endswith("\n")  # the bar stays, and what follows begins a line


def test_lines_where_tqdm_is_not_installed(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    stream = io.StringIO()
    iterations = train(data, stream)
    lines = stream.getvalue().splitlines()
    assert [line.split(":")[0] for line in lines] == [f"iteration {k + 1}" for k in range(iterations)]
    assert all(" objective " in line for line in lines)


def test_true_shows_it_on_standard_error(data, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    trellis.train(*data, type="crf", epochs=2, progress=True)
    captured = capsys.readouterr()
    assert captured.err.startswith("iteration 1: objective ") and not captured.out
