"""The trellis by itself: a linear chain over scores that something else computed."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from . import _arrays, _trellis
from ._options import as_settings

_BEST, _LOG_Z, _MARGINALS, _LOSS, _GRADIENT = 1 << 0, 1 << 2, 1 << 3, 1 << 6, 1 << 7


class Gradient(NamedTuple):
    """The gradient of the sum of the losses with respect to all scores."""

    nodes: list[Any]
    """[length][labels] for each sequence."""
    transitions: Any
    start: Any
    end: Any


class Chain:
    """A linear chain over scores of the caller's, such as those of a neural network.

    A labelling z of a sequence scores start[z1] + the sum of nodes[i][zi] + the sum of
    transitions[z(i-1)][zi] + end[zn]. A score of minus infinity rules a label or a transition out.

    `nodes` are arrays of floats [length][labels], one for each sequence; arrays of numpy, or anything with the buffer
    protocol, or lists.

    >>> chain = Chain(2, transitions=[[0.0, 1.0], [0.0, 0.0]])
    >>> [list(labels) for labels in chain.viterbi([[[1.0, 0.0], [0.5, 0.0], [0.0, 0.0]]])]
    [[0, 0, 1]]
    """

    def __init__(
        self,
        labels: int,
        transitions: Any = None,
        start: Any = None,
        end: Any = None,
        allowed: Any = None,
        *,
        threads: int | None = None,
    ) -> None:
        self.labels = labels
        self._core = _trellis.Chain(labels, as_settings({"threads": threads}))
        self.set(transitions, start, end, allowed)

    def set(self, transitions: Any = None, start: Any = None, end: Any = None, allowed: Any = None) -> None:
        """Sets what all sequences share; None scores 0. `allowed` [labels][labels] is 0 where a transition is ruled out."""
        shared = [None if scores is None else _arrays.take(scores, "f") for scores in (transitions, start, end)]
        self._core.set(shared[0], shared[1], shared[2], None if allowed is None else _arrays.take(allowed, "B"))

    def viterbi(self, nodes: Sequence[Any]) -> list[Any]:
        """The best labels of each sequence, as numbers."""
        taken = [_arrays.take(scores, "f") for scores in nodes]
        best = [_arrays.empty("i", (len(scores),)) for scores in taken]
        self._core.run(_BEST, tuple((s, None, b, None, None, 1.0) for s, b in zip(taken, best)), None)
        return best

    def marginals(self, nodes: Sequence[Any]) -> list[Any]:
        """The posterior of every label at every position [length][labels], for each sequence."""
        taken = [_arrays.take(scores, "f") for scores in nodes]
        found = [_arrays.empty("f", (len(scores), self.labels)) for scores in taken]
        self._core.run(_MARGINALS, tuple((s, None, None, m, None, 1.0) for s, m in zip(taken, found)), None)
        return found

    def log_z(self, nodes: Sequence[Any]) -> list[float]:
        """The logarithm of the sum of exp(score) over all labellings, for each sequence."""
        taken = tuple((_arrays.take(scores, "f"), None, None, None, None, 1.0) for scores in nodes)
        return [row[1] for row in self._core.run(_LOG_Z, taken, None)]

    def loss(self, nodes: Sequence[Any], labels: Sequence[Any]) -> list[float]:
        """-log P(labels) of each sequence; a label of -1 is not known."""
        return [row[2] for row in self._core.run(_LOSS, self._labelled(nodes, labels, None), None)]

    def loss_and_gradient(
        self, nodes: Sequence[Any], labels: Sequence[Any], weights: Sequence[float] | None = None
    ) -> tuple[list[float], Gradient]:
        """The losses, and the gradient of their sum, each times its weight."""
        square, row = (self.labels, self.labels), (self.labels,)
        taken = [_arrays.take(scores, "f") for scores in nodes]
        gradient = Gradient(
            [_arrays.empty("f", (len(scores), self.labels)) for scores in taken],
            _arrays.empty("f", square),
            _arrays.empty("f", row),
            _arrays.empty("f", row),
        )
        sequences = self._labelled(taken, labels, gradient.nodes, weights)
        answers = self._core.run(_LOSS | _GRADIENT, sequences, gradient[1:])
        return [answer[2] for answer in answers], gradient

    def _labelled(
        self, nodes: Sequence[Any], labels: Sequence[Any], gradients: list[Any] | None, weights: Any = None
    ) -> tuple[Any, ...]:
        if len(nodes) != len(labels):
            raise ValueError(f"the numbers of sequences ({len(nodes)}) and of their labels ({len(labels)}) differ")
        return tuple(
            (
                _arrays.take(scores, "f"),
                _arrays.take(gold, "i"),
                None,
                None,
                None if gradients is None else gradients[k],
                1.0 if weights is None else weights[k],
            )
            for k, (scores, gold) in enumerate(zip(nodes, labels))
        )
