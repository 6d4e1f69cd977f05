"""What a model says about one sequence: spans, probabilities and explanations, also as HTML for notebooks."""

from __future__ import annotations

import math
from html import escape
from typing import Any, Iterator, NamedTuple, Sequence, overload


class Span(NamedTuple):
    """A span of tokens that the labels mark, such as a named entity."""

    type: str
    begin: int
    """Its first token, from 0."""
    end: int
    """The token after its last one."""
    probability: float | None
    """That exactly these tokens are a span of this type; None if the model is not probabilistic."""
    start_char: int
    """Where it starts in the text."""
    end_char: int
    text: str
    """text[start_char:end_char] of the whole text."""


class Contribution(NamedTuple):
    """What one feature adds to the scores of the predicted labelling and of the runner-up."""

    position: int
    attribute: str | None
    """None for a transition."""
    labels: tuple[str, ...]
    """Of a transition, oldest first."""
    predicted: float
    runner_up: float

    @property
    def difference(self) -> float:
        """How much it speaks for the predicted label."""
        return self.predicted - self.runner_up


class Explanation(NamedTuple):
    """Why a token got its label: the features that separate the best labelling from the runner-up.

    The runner-up is the best labelling with another label at this token. The differences of all contributions add up to
    the margin.
    """

    token: str
    predicted: str
    runner_up: str | None
    """None if no other label is possible."""
    margin: float
    """The score of the prediction minus that of the runner-up."""
    predicted_probability: float | None
    runner_up_probability: float | None
    contributions: list[Contribution]
    """By falling absolute difference."""


class Explanations(Sequence[Explanation]):
    """The explanations of a sequence, one for each token; a table in a notebook."""

    def __init__(self, rows: list[Explanation]) -> None:
        self._rows = rows

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Explanations: ...
    def __getitem__(self, index: int | slice) -> Explanation | Explanations:
        return Explanations(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return "\n".join(
            f"{row.token}: {row.predicted}, not {row.runner_up} (margin {row.margin:.3g})" for row in self._rows
        )

    def _repr_html_(self) -> str:
        heads = "token", "label", "P", "runner-up", "P", "margin", "largest contributions"
        rows = "".join(f"<tr>{''.join(_explanation_cells(row))}</tr>" for row in self._rows)
        head = "".join(f'<th style="text-align:left">{name}</th>' for name in heads)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _explanation_cells(row: Explanation) -> Iterator[str]:
    texts = (
        row.token,
        row.predicted,
        _percent(row.predicted_probability),
        row.runner_up or "",
        _percent(row.runner_up_probability),
        f"{row.margin:.2f}" if math.isfinite(row.margin) else "∞",
    )
    for text in texts:
        yield f'<td style="text-align:left;white-space:nowrap">{escape(text)}</td>'
    parts = (
        f'<span style="white-space:nowrap">{escape(part.attribute or " → ".join(part.labels))}'
        f'&nbsp;<b style="color:{"#1a7f37" if part.difference > 0 else "#c4320a"}">{part.difference:+.2f}</b></span>'
        for part in row.contributions[:5]
    )
    yield f'<td style="text-align:left">{", ".join(parts)}</td>'


class Picture(str):
    """An SVG picture, as text; it shows itself in a notebook."""

    def _repr_svg_(self) -> str:
        return str(self)


class Annotation:
    """A tagged sequence: labels, spans and probabilities. In a notebook its spans are coloured."""

    tokens: list[str]
    labels: list[str]
    score: float
    probability: float | None
    """P(labels | tokens); None if the model is not probabilistic, as for the other probabilities."""
    probabilities: list[float] | None
    """The posterior of each label."""
    spans: list[Span]
    """Empty if the labels do not mark spans."""
    text: str

    def __init__(self, tokens: list[str], found: tuple[Any, ...], text: str | None, has_spans: bool) -> None:
        self.tokens = tokens
        self.labels, self.score, self.probability, marginals, spans = found
        self.probabilities = marginals or None
        self.text, self.offsets = _align(tokens, text)
        self.spans = [self._span(*span) for span in spans] if has_spans else []

    def _span(self, begin: int, end: int, kind: str, probability: float | None) -> Span:
        start, stop = self.offsets[begin][0], self.offsets[end - 1][1]
        return Span(kind, begin, end, probability, start, stop, self.text[start:stop])

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return " ".join(f"{token}/{label}" for token, label in zip(self.tokens, self.labels))

    def _repr_html_(self) -> str:
        pieces, at = [], 0
        marks = self.spans or [
            Span(label, i, i + 1, None if self.probabilities is None else self.probabilities[i], *self.offsets[i], token)
            for i, (token, label) in enumerate(zip(self.tokens, self.labels))
        ]
        for span in marks:
            pieces.append(escape(self.text[at : span.start_char]))
            pieces.append(_mark(span))
            at = span.end_char
        pieces.append(escape(self.text[at:]))
        return f'<div style="line-height:2.2">{"".join(pieces)}</div>'


def _align(tokens: list[str], text: str | None) -> tuple[str, list[tuple[int, int]]]:
    """The text, and where the tokens are in it; without a text, blanks are between them."""
    if text is None:
        text = " ".join(tokens)
    offsets, at = [], 0
    for position, token in enumerate(tokens):
        start = text.find(token, at)
        if start < 0:
            raise ValueError(f"position {position}: the text has no {token!r} after character {at}")
        at = start + len(token)
        offsets.append((start, at))
    return text, offsets


def _percent(probability: float | None) -> str:
    return "" if probability is None else f"{100 * probability:.0f} %"


def _hue(name: str) -> int:
    """A colour for a name, the same in every process."""
    hue = 7
    for character in name:
        hue = (hue * 31 + ord(character)) % 997
    return hue * 360 // 997


def _mark(span: Span) -> str:
    title = span.type if span.probability is None else f"{span.type}, P = {span.probability:.4f}"
    note = escape(span.type) + (f"&nbsp;{_percent(span.probability)}" if span.probability is not None else "")
    return (
        f'<mark title="{escape(title)}" style="background:hsl({_hue(span.type)},75%,88%);color:#1f2328;'
        'border-radius:4px;padding:2px 4px;white-space:nowrap">'
        f'{escape(span.text)}<sub style="font-size:70%;margin-left:4px;color:#57606a">{note}</sub></mark>'
    )
