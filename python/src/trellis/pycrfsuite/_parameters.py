"""The parameters of CRFsuite's training algorithms, and the options of the library that stand for them."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._options import as_text

NO_LIMIT = 2147483647
_MOST_EPOCHS = 1_000_000  # that the library can be asked for


class Parameter(NamedTuple):
    """A parameter of an algorithm. Its type is that of its default."""

    default: Any
    help: str
    unused: str = ""
    """Why the value has no effect; empty if it has one."""


_FEATURES = {
    "feature.minfreq": Parameter(0.0, "Features that occur less often than this are left out."),
    "feature.possible_states": Parameter(False, "Give every pair of an attribute and a label a weight."),
    "feature.possible_transitions": Parameter(False, "Give every pair of labels a transition weight."),
}
_C2 = Parameter(1.0, "Coefficient of the L2 penalty, c2 * |w|^2.")
_PERIOD = Parameter(10, "Iterations over which delta measures the change of the objective.")
_CALIBRATED = "the learning rate is calibrated by trials on 1,000 sequences, up and down by factors of 2 until it gets worse"
_SEARCHED = "L-BFGS has one line search, for the strong Wolfe conditions, which bounds its trials itself"


def _no_effect(default: Any, meaning: str, why: str) -> Parameter:
    return Parameter(default, f"{meaning} Has no effect: {why}.", why)


_EPOCHS = Parameter(100, "Maximum number of passes over the data.")

PARAMETERS: dict[str, dict[str, Parameter]] = {
    "lbfgs": {
        **_FEATURES,
        "c1": Parameter(0.0, "Coefficient of the L1 penalty, c1 * |w|."),
        "c2": _C2,
        "max_iterations": Parameter(NO_LIMIT, "Maximum number of L-BFGS iterations."),
        "num_memories": Parameter(6, "Number of corrections that L-BFGS stores."),
        "epsilon": Parameter(1e-5, "Stop when |gradient| / max(1, |w|) is below this."),
        "period": _PERIOD,
        "delta": Parameter(1e-5, "Stop when the objective changed by less than this share over the period."),
        "linesearch": _no_effect("MoreThuente", "Line search of L-BFGS.", _SEARCHED),
        "max_linesearch": _no_effect(20, "Maximum number of trials of the line search.", _SEARCHED),
    },
    "l2sgd": {
        **_FEATURES,
        "c2": _C2,
        "max_iterations": Parameter(1000, "Maximum number of passes over the data."),
        "period": _PERIOD,
        "delta": Parameter(1e-6, "Stop when the objective improved by less than this share over the period."),
        "calibration.eta": _no_effect(0.1, "First learning rate to try.", _CALIBRATED),
        "calibration.rate": _no_effect(2.0, "Factor between learning rates.", _CALIBRATED),
        "calibration.samples": _no_effect(1000.0, "Number of sequences to try learning rates on.", _CALIBRATED),
        "calibration.candidates": _no_effect(10, "Number of learning rates to try.", _CALIBRATED),
        "calibration.max_trials": _no_effect(20, "Maximum number of trials of learning rates.", _CALIBRATED),
    },
    "averaged-perceptron": {
        **_FEATURES,
        "max_iterations": _EPOCHS,
        "epsilon": Parameter(0.0, "Stop when the mean share of wrong labels is below this."),
    },
    "passive-aggressive": {
        **_FEATURES,
        "type": Parameter(1, "Update rule: 0 is PA, 1 is PA-I, 2 is PA-II."),
        "c": Parameter(1.0, "Aggressiveness of PA-I and PA-II."),
        "error_sensitive": Parameter(True, "The margin is the square root of the number of wrong labels, not 1."),
        "averaging": Parameter(True, "Average the weights over all updates."),
        "max_iterations": _EPOCHS,
        "epsilon": Parameter(0.0, "Stop when the mean loss is below this."),
    },
    "arow": {
        **_FEATURES,
        "variance": Parameter(1.0, "Initial variance of every weight."),
        "gamma": Parameter(1.0, "Trade-off between the loss and the change of the weights."),
        "max_iterations": _EPOCHS,
        "epsilon": Parameter(0.0, "Stop when the mean loss is not above this."),
    },
}
ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


def parse(name: str, parameter: Parameter, value: Any) -> Any:
    """A value, perhaps as text, as the type of the parameter; ValueError if it is none.

    >>> parse("c2", PARAMETERS["lbfgs"]["c2"], "0.5")
    0.5
    """
    kind = type(parameter.default)
    if kind is str:
        return str(value)
    try:
        number = float(value)
        return bool(number) if kind is bool else kind(number)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"the value of {name} must be a number, not {value!r}") from None


def _of_features(values: dict[str, Any]) -> dict[str, Any]:
    minimum = values["feature.minfreq"]
    if minimum > 0:  # features that do not occur are rarer than that
        return {"min-feature-count": minimum, "transitions": "observed"}
    return {
        "all-features": values["feature.possible_states"],
        "transitions": "all" if values["feature.possible_transitions"] else "observed",
    }


def _epochs(values: dict[str, Any]) -> int:
    """0 is no limit for batch methods, and there is none below this maximum for the others."""
    return min(max(int(values["max_iterations"]), 1), _MOST_EPOCHS)


def _of_lbfgs(values: dict[str, Any]) -> dict[str, Any]:
    found = {
        "type": "crf",
        "algorithm": "lbfgs",
        "l2": values["c2"],
        "history": max(values["num_memories"], 1),
        "epsilon": max(values["epsilon"], 0.0),
        "period": max(values["period"], 1),
        "delta": max(values["delta"], 0.0),
        "epochs": 0 if values["max_iterations"] > _MOST_EPOCHS else _epochs(values),
    }
    if values["c1"]:
        found["l1"] = values["c1"]
    return found


def _of_l2sgd(values: dict[str, Any]) -> dict[str, Any]:
    # The rule of period and delta is TrainingLog's.
    return {"type": "crf", "algorithm": "sgd", "l2": values["c2"], "epochs": _epochs(values)}


def _of_perceptron(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "perceptron", "algorithm": "averaged", "epochs": _epochs(values)}


def _of_passive_aggressive(values: dict[str, Any]) -> dict[str, Any]:
    found = {
        "type": "perceptron",
        "algorithm": {1: "pa1", 2: "pa2"}.get(values["type"], "pa"),
        "loss": "root" if values["error_sensitive"] else "one",
        "average": values["averaging"],
        "epochs": _epochs(values),
    }
    if found["algorithm"] != "pa":
        found["aggressiveness"] = values["c"]
    return found


def _of_arow(values: dict[str, Any]) -> dict[str, Any]:
    if values["gamma"] <= 0:
        raise ValueError(f"gamma must be above 0, not {values['gamma']}")
    return {
        "type": "perceptron",
        "algorithm": "arow",
        "loss": "count",
        "average": False,
        "variance": values["variance"] / values["gamma"],
        "epochs": _epochs(values),
    }


_OPTIONS = {
    "lbfgs": _of_lbfgs,
    "l2sgd": _of_l2sgd,
    "averaged-perceptron": _of_perceptron,
    "passive-aggressive": _of_passive_aggressive,
    "arow": _of_arow,
}


def options(algorithm: str, values: dict[str, Any]) -> dict[str, str]:
    """The options of the library for an algorithm and the values of its parameters.

    Held-out data is scored and decides nothing, as in CRFsuite.
    """
    found = {"format": "crfsuite", "keep": "last", **_of_features(values), **_OPTIONS[algorithm](values)}
    return {name: as_text(value) for name, value in found.items()}
