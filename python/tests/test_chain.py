"""The chain, compared with the sum over all labellings."""

import itertools
import math
import random
from array import array

import pytest

import trellis

random.seed(1)
L, N = 3, 4
NODES = [[random.gauss(0, 1) for _ in range(L)] for _ in range(N)]
STEPS = [[random.gauss(0, 1) for _ in range(L)] for _ in range(L)]
START = [random.gauss(0, 1) for _ in range(L)]
END = [random.gauss(0, 1) for _ in range(L)]


def score(path):
    return (
        START[path[0]]
        + sum(NODES[i][z] for i, z in enumerate(path))
        + sum(STEPS[a][b] for a, b in zip(path, path[1:]))
        + END[path[-1]]
    )


PATHS = list(itertools.product(range(L), repeat=N))
Z = sum(math.exp(score(path)) for path in PATHS)


@pytest.fixture
def chain():
    return trellis.Chain(L, STEPS, START, END, threads=1)


def test_best_and_sums(chain):
    assert tuple(chain.viterbi([NODES])[0]) == max(PATHS, key=score)
    assert chain.log_z([NODES])[0] == pytest.approx(math.log(Z), abs=1e-5)
    marginals = chain.marginals([NODES])[0].tolist()
    for i, label in itertools.product(range(N), range(L)):
        expected = sum(math.exp(score(path)) for path in PATHS if path[i] == label) / Z
        assert marginals[i][label] == pytest.approx(expected, abs=1e-5)


def test_loss_and_gradient(chain):
    gold = [0, 2, 1, 0]
    losses, gradient = chain.loss_and_gradient([NODES, NODES], [gold, gold], [1.0, 0.0])
    assert losses[0] == pytest.approx(math.log(Z) - score(gold), abs=1e-5)
    assert chain.loss([NODES], [gold])[0] == pytest.approx(losses[0])
    marginals = chain.marginals([NODES])[0].tolist()
    for i, label in itertools.product(range(N), range(L)):
        expected = marginals[i][label] - (gold[i] == label)
        assert gradient.nodes[0].tolist()[i][label] == pytest.approx(expected, abs=1e-5)
    assert sum(gradient.start.tolist()) == pytest.approx(0, abs=1e-5)
    assert chain.loss([NODES], [[-1, -1, -1, -1]])[0] == pytest.approx(0, abs=1e-5)


def test_buffers(chain):
    flat = array("f", [value for row in NODES for value in row])
    view = memoryview(flat).cast("B").cast("f", (N, L))
    assert list(chain.viterbi([view])[0]) == list(chain.viterbi([NODES])[0])
    numpy = pytest.importorskip("numpy")
    wide = numpy.zeros((L, 2 * N), dtype=numpy.float32)
    wide[:, ::2] = numpy.array(NODES).T
    assert list(chain.viterbi([wide.T[::2]])[0]) == list(chain.viterbi([NODES])[0])
    assert list(chain.viterbi([numpy.array(NODES)])[0]) == list(chain.viterbi([NODES])[0])


def test_without_numpy(chain, monkeypatch):
    from trellis import _arrays

    expected = chain.marginals([NODES])[0].tolist()
    monkeypatch.setattr(_arrays, "numpy", lambda: None)
    plain = trellis.Chain(L, STEPS, START, END)
    assert plain.marginals([NODES])[0].tolist() == expected
    assert tuple(plain.viterbi([NODES])[0]) == max(PATHS, key=score)


def test_bad_arguments(chain):
    with pytest.raises(ValueError, match="nodes: the shape must be"):
        chain.viterbi([[[0.0, 0.0]]])
    with pytest.raises(ValueError):
        chain.loss([NODES], [[0, 1]])
    with pytest.raises(ValueError):
        chain.loss([NODES], [[0, 1, 2, 3]])
    with pytest.raises(ValueError):
        chain.viterbi([[[float("nan")] * L]])
    with pytest.raises(ValueError, match="differ"):
        chain.loss([NODES], [])
    with pytest.raises(ValueError):
        trellis.Chain(0)
    ruled_out = trellis.Chain(2, allowed=[[1, 0], [0, 1]])
    assert list(ruled_out.viterbi([[[1.0, 0.0], [0.0, 0.5]]])[0]) == [0, 0]
