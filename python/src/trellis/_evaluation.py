"""Scores of predictions against gold labels, and comparisons of two systems."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from . import _trellis
from ._options import as_settings
from ._signatures import EVAL, RUN, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import EvaluationOptions

_CONLLEVAL, _JSON, _DETAILS = 0, 1, 2


def _evaluated(
    gold: Sequence[Iterable[str]], predicted: Sequence[Iterable[str]], options: Mapping[str, Any]
) -> _trellis.Evaluation:
    if len(gold) != len(predicted):
        raise ValueError(f"the numbers of gold sequences ({len(gold)}) and of predicted ones ({len(predicted)}) differ")
    core = _trellis.Evaluation(as_settings(options))
    for right, found in zip(gold, predicted):
        core.add(right, found)
    return core


class Evaluation:
    """Scores: by token, by sequence and, if the labels are spans, by span as conlleval does; from 0 to 1.

    >>> scores = evaluate([["B-X", "I-X", "O"]], [["B-X", "I-X", "B-X"]])
    >>> scores.precision, scores.recall, round(scores.f1, 3), round(scores.accuracy, 3)
    (0.5, 1.0, 0.667, 0.667)
    >>> scores.confusion("O", "B-X")
    1
    """

    accuracy: float
    sequence_accuracy: float
    precision: float | None
    """Of spans; None if the labels are not, as for recall and F1."""
    recall: float | None
    f1: float | None

    def __init__(self, core: _trellis.Evaluation) -> None:
        self._core = core
        self.figures: dict[str, Any] = json.loads(core.report(_JSON))
        self.accuracy = float(self.figures["accuracy"])
        self.sequence_accuracy = float(self.figures["sequence_accuracy"])
        self.precision, self.recall, self.f1 = map(self._of_spans, ("precision", "recall", "f1"))

    def _of_spans(self, name: str) -> float | None:
        return float(self.figures[name]) if self.figures["has_spans"] else None

    def confusion(self, gold: str, predicted: str) -> int:
        """Tokens with this gold label that got this one."""
        return self._core.confusion(gold, predicted)

    def report(self, details: bool = False) -> str:
        """The lines of conlleval, or everything as tables."""
        return self._core.report(_DETAILS if details else _CONLLEVAL).decode("utf-8", "replace")

    def __repr__(self) -> str:
        names = ("accuracy", "sequence_accuracy", "precision", "recall", "f1")
        known = [f"{name} {getattr(self, name):.4f}" for name in names if getattr(self, name) is not None]
        return f"<Evaluation: {', '.join(known)}>"

    def _repr_html_(self) -> str:
        spans = self.figures["has_spans"]
        rows = self.figures.get("types", []) if spans else self.figures["by_label"]
        key = "type" if spans else "label"
        figures = ("gold", "predicted", "correct", "precision", "recall", "f1")
        head = "".join(f"<th>{name}</th>" for name in (key, *figures))
        body = "".join(
            f"<tr><td>{escape(str(row[key]))}</td>"
            + "".join(f"<td>{row[name]:.4g}</td>" for name in figures)
            + "</tr>"
            for row in rows
        )
        return f"<p>{escape(repr(self)[13:-1])}</p><table><tr>{head}</tr>{body}</table>"


class Comparison:
    """Two systems on the same gold labels, with p-values of the approximate randomisation test and McNemar's test."""

    def __init__(self, figures: dict[str, Any], text: str) -> None:
        self.figures = figures
        self._text = text

    def report(self) -> str:
        """The comparison as text."""
        return self._text

    def p_value(self, measure: str = "f1") -> float:
        """Of the difference in accuracy, sequence_accuracy, precision, recall or f1."""
        try:
            return float(self.figures[measure]["p"])
        except (KeyError, TypeError):
            raise ValueError(f"there is no comparison by {measure!r}") from None

    def __repr__(self) -> str:
        return self._text


@takes_options(EVAL | RUN)
def evaluate(
    gold: Sequence[Iterable[str]], predicted: Sequence[Iterable[str]], **options: Unpack[EvaluationOptions]
) -> Evaluation:
    """Scores predicted labels against gold labels. Options such as bootstrap=1000 are those of `trellis eval`."""
    return Evaluation(_evaluated(gold, predicted, options))


@takes_options(EVAL | RUN)
def compare(
    gold: Sequence[Iterable[str]],
    first: Sequence[Iterable[str]],
    second: Sequence[Iterable[str]],
    **options: Unpack[EvaluationOptions],
) -> Comparison:
    """Compares two systems: differences with confidence intervals and p-values.

    Options such as shuffles=10000 are those of `trellis eval --against`.
    """
    cores = [_evaluated(gold, predicted, options) for predicted in (first, second)]
    figures = json.loads(cores[0].compare(cores[1], _JSON))
    return Comparison(figures, cores[0].compare(cores[1], _DETAILS).decode("utf-8", "replace"))
