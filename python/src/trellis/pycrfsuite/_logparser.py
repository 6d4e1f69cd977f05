"""Reads the log of a training, message by message: CRFsuite's or ours, which has the same form.

    start of the log -> feature generation -> preparation -> iterations -> storing

Each part ends with an event. The attributes of the parser are those of python-crfsuite's, because pickles hold them.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Callable, NamedTuple


class LabelScore(NamedTuple):
    """How a label did on the held-out data; precision, recall and f1 are None for one that is not there."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


_ITERATION = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}")
_SECONDS = re.compile(r"Seconds required: ([\d.]+)")
_FEATURES = re.compile(r"Number of features: (\d+)")
_TRAINING_SECONDS = re.compile(r"Total seconds required for training: ([\d.]+)")
_PROGRESS = re.compile(r"\.|10|[0-9]")
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_FIGURES: list[tuple[str, re.Pattern[str], Callable[[str], Any]]] = [
    ("loss", re.compile(rf"Loss: {_NUMBER}"), float),
    ("feature_norm", re.compile(rf"Feature norm: {_NUMBER}"), float),
    ("error_norm", re.compile(rf"Error norm: {_NUMBER}"), float),
    ("active_features", re.compile(r"Active features: (\d+)"), int),
    ("linesearch_trials", re.compile(r"Line search trials: (\d+)"), int),
    ("linesearch_step", re.compile(rf"Line search step: {_NUMBER}"), float),
    ("time", re.compile(rf"Seconds required for this iteration: {_NUMBER}"), float),
]
_AVERAGES = re.compile(r"Macro-average precision, recall, F1: \(([\d.]+), ([\d.]+), ([\d.]+)\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_LABEL = re.compile(r"    (.*): \((\d+), (\d+), (\d+)\) \(([\d.*]+), ([\d.*]+), ([\d.*]+)\)\Z", re.DOTALL)


def _score(text: str) -> float | None:
    return None if text.startswith("*") else float(text)


class TrainLogParser:
    """The state of a training as its log tells it. `feed()` takes the messages one by one.

    >>> parser = TrainLogParser()
    >>> parser.feed("Feature generation\\n")
    'start'
    >>> parser.feed("Number of features: 3\\n"), parser.feed("Seconds required: 0.5\\n")
    (None, 'featgen_end')
    >>> parser.featgen_num_features, parser.featgen_seconds
    (3, 0.5)
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    def feed(self, line: str) -> str | None:
        """Reads a message; the event that it completes, or None.

        Events are start, featgen_progress, featgen_end, prepared, prepare_error, iteration, optimization_end and end.
        """
        self.log.append(line)
        if self.state is None:
            self.state = "STARTING"
            self._read_STARTING(line)
            event: str | None = "start"
        else:
            event = getattr(self, "_read_" + self.state)(line)
        if event is not None:
            begin = self.events[-1][2] if self.events else 0
            # These are noticed by the line after their last one.
            end = len(self.log) - (event in ("prepared", "optimization_end"))
            self.events.append((event, begin, end))
        return event

    @property
    def last_log(self) -> str:
        """The part of the log that the last event completed."""
        _, begin, end = self.events[-1]
        return "".join(self.log[begin:end])

    def _read_STARTING(self, line: str) -> None:
        if line.startswith("Feature generation"):
            self.state = "FEATGEN"

    def _read_FEATGEN(self, line: str) -> str | None:
        if _PROGRESS.fullmatch(line):
            self.featgen_percent += 2
            return "featgen_progress"
        if found := _FEATURES.match(line):
            self.featgen_num_features = int(found[1])
        elif found := _SECONDS.match(line):
            self.featgen_seconds = float(found[1])
            self.state = "AFTER_FEATGEN"
            return "featgen_end"
        return None

    def _read_AFTER_FEATGEN(self, line: str) -> str | None:
        if _ITERATION.match(line):
            self._begin_iteration(line)
            return "prepared"
        if "terminated with error" in line:
            self.state = "AFTER_ITERATION"
            return "prepare_error"
        if line.startswith("Storing the model"):  # not one iteration
            return self._begin_storing()
        self._read_training_seconds(line)
        return None

    def _begin_iteration(self, line: str) -> None:
        found = _ITERATION.match(line)
        assert found
        self.last_iteration = {"num": int(found[1]), "scores": {}}
        self.iterations.append(self.last_iteration)
        self.state = "ITERATION"

    def _read_ITERATION(self, line: str) -> str | None:
        if line == "\n":
            self.state = "AFTER_ITERATION"
            return "iteration"
        info = self.last_iteration
        assert info is not None
        for name, pattern, number in _FIGURES:
            if found := pattern.match(line):
                info[name] = number(found[1])
        if found := _AVERAGES.match(line):
            info["avg_precision"], info["avg_recall"], info["avg_f1"] = map(float, found.groups())
        elif found := _ACCURACY.match(line):
            name, correct, total = found[1].lower(), int(found[2]), int(found[3])
            share = Fraction(correct, total) if total else Fraction(0)
            info[name + "_accuracy"] = share
            info[name + "_accuracy_float"] = float(share)
        elif found := _LABEL.match(line.rstrip("\r\n")):
            counts, scores = map(int, found.groups()[1:4]), map(_score, found.groups()[4:])
            info["scores"][found[1]] = LabelScore(*counts, *scores)
        return None

    def _read_AFTER_ITERATION(self, line: str) -> str | None:
        if _ITERATION.match(line):
            self._begin_iteration(line)
        elif line.startswith("Storing the model"):
            return self._begin_storing()
        else:
            self._read_training_seconds(line)
        return None

    def _read_training_seconds(self, line: str) -> None:
        if found := _TRAINING_SECONDS.match(line):
            self.training_seconds = float(found[1])

    def _begin_storing(self) -> str:
        self.state = "STORING"
        return "optimization_end"

    def _read_STORING(self, line: str) -> str | None:
        if found := _SECONDS.match(line):
            self.storing_seconds = float(found[1])
        return "end" if line == "\n" else None
