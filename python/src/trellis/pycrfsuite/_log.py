"""Writes the log of a training in CRFsuite's form, from the progress that the library reports."""

from __future__ import annotations

import time
from typing import Any, Callable, Mapping, Sequence

_TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}
_NAMES = {"lbfgs": "L-BFGS", "l2sgd": "SGD"}
# Where the log of L-BFGS has other names and another order than its parameters.
_SHOWN_AS = {"period": "stop", "max_linesearch": "linesearch.max_iterations"}
_ORDER = {"lbfgs": ["c1", "c2", "num_memories", "max_iterations", "epsilon", "period", "delta"]}


def _number(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:f}" if isinstance(value, float) else str(int(value))


def _label_line(label: str, gold: int, predicted: int, correct: int) -> tuple[str, tuple[float, float, float]]:
    precision = correct / predicted if predicted else 0.0
    recall = correct / gold if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
    scores = f"({precision:.4f}, {recall:.4f}, {f1:.4f})" if gold or predicted else "(******, ******, ******)"
    return f"    {label}: ({correct}, {predicted}, {gold}) {scores}\n", (precision, recall, f1)


class TrainingLog:
    """The log of one training: `message` is called with each piece. It also has CRFsuite's rules for when to stop."""

    def __init__(
        self,
        message: Callable[[str], Any],
        algorithm: str,
        values: Mapping[str, Any],
        labels: Sequence[str],
        sequences: int,
    ) -> None:
        self._message = message
        self._algorithm = algorithm
        self._values = values
        self._labels = labels
        self._sequences = sequences  # to learn from
        self._prepared = False
        self._began = time.perf_counter()
        self._iteration = 0
        self._iteration_began: float | None = None
        self._losses: list[float] = []
        self._stopped = False
        self.features = 0

    # ---- before learning

    def begin(self, holdout: int) -> None:
        """What is said before the data is read."""
        if holdout >= 0:
            self._write(f"Holdout group: {holdout + 1}", "")
        self._write("Feature generation", "type: CRF1d")
        for name in ("feature.minfreq", "feature.possible_states", "feature.possible_transitions"):
            self._write(f"{name}: {_number(self._values[name])}")

    def prepare(self, features: int) -> None:
        """What is said once the features are known; only once."""
        if self._prepared:
            return
        self._prepared = True
        self.features = features
        for step in range(51):
            self._message(str(step // 5) if step % 5 == 0 else ".")
        self._write("", f"Number of features: {features}", f"Seconds required: {self._elapsed():.3f}", "")
        self._began = time.perf_counter()
        self._iteration_began = None
        self._write(_TITLES[self._algorithm], *self._parameters(), "")

    def _parameters(self) -> list[str]:
        own = [name for name in self._values if not name.startswith(("feature.", "calibration."))]
        order = _ORDER.get(self._algorithm, [])
        shown = order + [name for name in own if name not in order]
        names = _SHOWN_AS if self._algorithm == "lbfgs" else {}
        return [f"{names.get(name, name)}: {_number(self._values[name])}" for name in shown]

    # ---- while learning

    def __call__(self, figures: Mapping[str, Any]) -> bool:
        """The library's progress; False to stop."""
        if figures["features"] or figures["phase"] in ("warm-up", "training"):
            self.prepare(figures["features"])
        if self._iteration_began is None:
            self._iteration_began = figures.get("seconds", 0.0)
        if figures["phase"] == "training" and figures["iteration"] > self._iteration:
            self._iteration = figures["iteration"]
            self._write_iteration(figures)
            self._iteration_began = figures.get("seconds", 0.0)
            self._stopped = self._shall_stop(figures)
        return not self._stopped

    def _write_iteration(self, figures: Mapping[str, Any]) -> None:
        sgd = self._algorithm == "l2sgd"
        seconds = figures.get("seconds", 0.0) - (self._iteration_began or 0.0)
        loss = figures["objective" if "objective" in figures else "loss"]
        self._write(f"***** {'Epoch' if sgd else 'Iteration'} #{self._iteration} *****", f"Loss: {loss:f}")
        if "feature_norm" in figures:
            self._write(f"Feature {'L2-norm' if sgd else 'norm'}: {figures['feature_norm']:f}")
        if self._algorithm == "lbfgs":
            error = figures.get("gradient_norm", 0.0) * max(1.0, figures.get("feature_norm", 0.0))
            self._write(
                f"Error norm: {error:f}",
                f"Active features: {figures['active_features']}",
                f"Line search trials: {figures['line_search_trials']}",
                f"Line search step: {figures.get('line_search_step', 0.0):f}",
            )
        self._write(f"Seconds required for this iteration: {max(seconds, 0.0):.3f}")
        if "dev" in figures:
            self._write_holdout(figures["dev"])
        self._write("")

    def _write_holdout(self, dev: Mapping[str, Any]) -> None:
        counts = {label: (0, 0, 0) for label in self._labels}
        counts.update(dev["labels"])
        self._write("Performance by label (#match, #model, #ref) (precision, recall, F1):")
        sums = [0.0, 0.0, 0.0]
        for label, (gold, predicted, correct) in counts.items():
            line, scores = _label_line(label, gold, predicted, correct)
            self._message(line)
            sums = [total + score for total, score in zip(sums, scores)]
        averages = ", ".join(f"{total / max(len(counts), 1):f}" for total in sums)
        self._write(f"Macro-average precision, recall, F1: ({averages})")
        for name, kind in (("Item", "tokens"), ("Instance", "sequences")):
            correct, total = dev[kind + "_correct"], dev[kind]
            self._write(f"{name} accuracy: {correct} / {total} ({correct / max(total, 1):.4f})")

    def _shall_stop(self, figures: Mapping[str, Any]) -> bool:
        """CRFsuite's rules for the algorithms whose own rules the library does not have."""
        if self._algorithm == "lbfgs":
            return False
        if self._algorithm == "l2sgd":
            period, loss = max(self._values["period"], 1), figures["objective"]
            self._losses.append(loss)
            return len(self._losses) > period and bool((self._losses[-1 - period] - loss) / loss < self._values["delta"])
        mean: float = figures.get("loss", 0.0) / max(self._sequences, 1)
        epsilon: float = self._values["epsilon"]
        return mean <= epsilon if self._algorithm == "arow" else mean < epsilon

    # ---- after learning

    def end(self) -> None:
        """What is said when learning has ended."""
        limit = self._values["max_iterations"]
        reached = self._iteration >= limit
        if self._algorithm in _NAMES:
            why = "the maximum number of iterations" if reached else "the stopping criteria"
            self._write(f"{_NAMES[self._algorithm]} terminated with {why}")
        elif self._stopped:
            self._write("Terminated with the stopping criterion", "")
        self._write(f"Total seconds required for training: {self._elapsed():.3f}", "")
        self._began = time.perf_counter()

    def fail(self) -> None:
        """What is said where there is nothing to learn from."""
        self.prepare(0)
        name = _NAMES.get(self._algorithm, _TITLES[self._algorithm])
        self._write(f"{name} terminated with error: there is no training data")
        self._write(f"Total seconds required for training: {self._elapsed():.3f}", "")
        self._began = time.perf_counter()

    def store(self, active: int, attributes: int, labels: int, write: Callable[[], None]) -> None:
        """What is said while the model is written."""
        self._write("Storing the model", f"Number of active features: {active} ({self.features})")
        self._write(f"Number of active attributes: {attributes} ({attributes})")
        self._write(f"Number of active labels: {labels} ({labels})", "Writing labels", "Writing attributes")
        self._write("Writing feature references for transitions", "Writing feature references for attributes")
        write()
        self._write(f"Seconds required: {self._elapsed():.3f}", "")

    def _elapsed(self) -> float:
        return time.perf_counter() - self._began

    def _write(self, *lines: str) -> None:
        for line in lines:
            self._message(line + "\n")
