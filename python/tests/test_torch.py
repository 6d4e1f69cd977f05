"""The layer of PyTorch, where that is installed."""

import itertools
import random

import pytest

torch = pytest.importorskip("torch")

from trellis.torch import chain_loss, viterbi  # noqa: E402

L = 3


def by_enumeration(scores, labels, transitions, start, end):
    """-log P(labels), differentiated by torch itself."""

    def score(path):
        total = start[path[0]] + end[path[-1]]
        total = total + sum(scores[i, label] for i, label in enumerate(path))
        return total + sum(transitions[a, b] for a, b in zip(path, path[1:]))

    paths = itertools.product(range(L), repeat=len(labels))
    return torch.logsumexp(torch.stack([score(path) for path in paths]), 0) - score(labels)


@pytest.fixture
def tensors():
    torch.manual_seed(1)
    shared = [torch.randn(L, L, requires_grad=True), torch.randn(L, requires_grad=True), torch.randn(L, requires_grad=True)]
    scores = [torch.randn(n, L, requires_grad=True) for n in (4, 1, 3)]
    labels = [[random.randrange(L) for _ in range(len(s))] for s in scores]
    return scores, labels, shared


def test_loss_and_gradient(tensors):
    scores, labels, shared = tensors
    weights = torch.tensor([1.0, 2.0, 0.5])
    (chain_loss(scores, labels, *shared) * weights).sum().backward()
    found = [t.grad.clone() for t in (*shared, *scores)]
    for t in (*shared, *scores):
        t.grad = None
    expected = sum(w * by_enumeration(s, y, *shared) for w, s, y in zip(weights, scores, labels))
    expected.backward()
    for t, gradient in zip((*shared, *scores), found):
        assert torch.allclose(t.grad, gradient, atol=1e-5)


def test_padded_batches_and_viterbi(tensors):
    _, _, shared = tensors
    scores = torch.randn(2, 4, L)
    labels = torch.tensor([[0, 1, 2, 0], [1, 1, 0, 0]])
    both = chain_loss(scores, labels, *shared, lengths=[4, 2])
    one = chain_loss([scores[1, :2]], [labels[1, :2]], *shared)
    assert torch.allclose(both[1], one[0])
    best = viterbi(scores, *shared, lengths=[4, 2])
    assert [len(path) for path in best] == [4, 2]
    with pytest.raises(ValueError, match="differ"):
        chain_loss(scores, labels[:1], *shared)
