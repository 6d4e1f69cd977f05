"""The chain as a layer of PyTorch: the loss of a CRF over scores of a network, with gradients by the C library.

    loss = trellis.torch.chain_loss(scores, labels, transitions, start, end).mean()
    loss.backward()

`scores` is a list of tensors [length][labels], or one padded tensor [batch][length][labels] with `lengths`.
"""

from __future__ import annotations

import importlib
from typing import Any, Sequence

from ._chain import Chain

torch: Any = importlib.import_module("torch")


def _array(tensor: Any) -> Any:
    return tensor.detach().to("cpu", torch.float32).contiguous().numpy()


class _ChainLoss(torch.autograd.Function):  # type: ignore[misc]
    """-log P(labels) of each sequence. The gradient is computed with the loss, for a weight of 1 each."""

    @staticmethod
    def forward(ctx: Any, labels: Any, transitions: Any, start: Any, end: Any, *scores: Any) -> Any:
        chain = Chain(transitions.shape[0], _array(transitions), _array(start), _array(end))
        nodes = [_array(sequence) for sequence in scores]
        gold = [_as_labels(sequence) for sequence in labels]
        ctx.chain, ctx.nodes, ctx.gold = chain, nodes, gold
        ctx.like = transitions, start, end, scores
        return torch.tensor(chain.loss(nodes, gold), dtype=torch.float32, device=transitions.device)

    @staticmethod
    def backward(ctx: Any, outer: Any) -> Any:
        # The weight of a sequence is the gradient of what is minimised with respect to its loss.
        weights = outer.detach().to("cpu").tolist()
        _, gradient = ctx.chain.loss_and_gradient(ctx.nodes, ctx.gold, weights)
        transitions, start, end, scores = ctx.like
        shared = [_like(array, tensor) for array, tensor in zip(gradient[1:], (transitions, start, end))]
        return (None, *shared, *(_like(array, tensor) for array, tensor in zip(gradient.nodes, scores)))


def _as_labels(labels: Any) -> Any:
    return labels.detach().to("cpu", torch.int32).contiguous().numpy() if hasattr(labels, "detach") else labels


def _like(array: Any, tensor: Any) -> Any:
    return torch.from_numpy(array).to(tensor.device, tensor.dtype)


def _sequences(scores: Any, lengths: Sequence[int] | None) -> list[Any]:
    if not hasattr(scores, "shape"):
        return list(scores)
    sizes = [scores.shape[1]] * scores.shape[0] if lengths is None else [int(length) for length in lengths]
    return [scores[k, :size] for k, size in enumerate(sizes)]


def chain_loss(
    scores: Any, labels: Any, transitions: Any, start: Any, end: Any, lengths: Sequence[int] | None = None
) -> Any:
    """-log P(labels) of each sequence, as a tensor that can be differentiated.

    `transitions` [labels][labels], `start` and `end` [labels] are tensors of scores that all sequences share. `labels`
    are tensors or lists of numbers; -1 is a label that is not known.
    """
    sequences = _sequences(scores, lengths)
    if len(sequences) != len(labels):
        raise ValueError(f"the numbers of sequences ({len(sequences)}) and of their labels ({len(labels)}) differ")
    gold = [row[: len(sequence)] for row, sequence in zip(labels, sequences)]
    return _ChainLoss.apply(gold, transitions, start, end, *sequences)


def viterbi(scores: Any, transitions: Any, start: Any, end: Any, lengths: Sequence[int] | None = None) -> list[Any]:
    """The best labels of each sequence, as tensors of numbers."""
    chain = Chain(transitions.shape[0], _array(transitions), _array(start), _array(end))
    best = chain.viterbi([_array(sequence) for sequence in _sequences(scores, lengths)])
    return [torch.tensor(labels.tolist(), dtype=torch.int64) for labels in best]
