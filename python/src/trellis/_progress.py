"""Progress of a training, and ways to show it."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, NamedTuple, TextIO


class Progress(NamedTuple):
    """Progress of a training; what is not known is None, or 0 for counts."""

    phase: str
    """message, reading, calibrating the learning rate, warm-up, training, or more seeds: those after the first of `seeds`,
    whose iterations are reported; `iteration` then counts seeds."""
    message: str | None = None
    iteration: int = 0
    """Completed."""
    max_iterations: int = 0
    active_features: int = 0
    features: int = 0
    """That get a weight."""
    fraction: float | None = None
    """Of this iteration."""
    objective: float | None = None
    gradient_norm: float | None = None
    feature_norm: float | None = None
    error_rate: float | None = None
    dev_accuracy: float | None = None
    dev_f1: float | None = None
    likelihood: float | None = None
    dev_likelihood: float | None = None
    seconds: float | None = None
    tokens_per_second: float | None = None
    line_search_trials: int = 0
    """Evaluations in this iteration, with batch methods."""
    line_search_step: float | None = None
    loss: float | None = None
    """Of online learners: by how much the sequences missed their margins; of a perceptron, their shares of wrong labels."""
    dev: dict[str, Any] | None = None
    """Counts on the dev data where this iteration was scored: sequences, sequences_correct, tokens, tokens_correct, and
    labels: {label: (gold, predicted, correct)}."""

    @property
    def is_iteration(self) -> bool:
        """Whether an iteration of the training itself was just completed."""
        return self.phase == "training" and (self.fraction is None or self.fraction == 1) and self.iteration > 0

    def figures(self) -> dict[str, str]:
        """The figures that say how the training goes, as text.

        >>> Progress("training", iteration=3, objective=12.5, dev_f1=0.875).figures()
        {'objective': '12.5', 'dev F1': '87.50'}
        """
        known = {}
        if self.objective is not None:
            known["objective"] = f"{self.objective:.6g}"
        if self.error_rate is not None:
            known["errors"] = f"{100 * self.error_rate:.2f}"
        for name, value in ("dev F1", self.dev_f1), ("dev accuracy", self.dev_accuracy):
            if value is not None and "dev F1" not in known:
                known[name] = f"{100 * value:.2f}"
        return known


class Bar:
    """Shows the iterations of a training: a bar of tqdm where that is installed, otherwise lines on standard error."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._bar: Any = None
        self._shown = 0
        try:
            self._tqdm: Any = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            self._tqdm = None

    def __call__(self, progress: Progress) -> None:
        if progress.phase != "training" or progress.iteration <= self._shown:
            return
        if self._tqdm is None:
            figures = ", ".join(f"{name} {value}" for name, value in progress.figures().items())
            print(f"iteration {progress.iteration}: {figures}", file=self._stream, flush=True)
        else:
            if self._bar is None:
                self._bar = self._tqdm(total=progress.max_iterations or None, unit="it", file=self._stream)
            self._bar.update(progress.iteration - self._shown)
            self._bar.set_postfix(progress.figures())
        self._shown = progress.iteration

    def close(self) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()


Callback = Callable[[Progress], Any]
