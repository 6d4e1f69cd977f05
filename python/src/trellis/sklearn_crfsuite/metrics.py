"""Metrics of scikit-learn for sequences: of all tokens, or of whole sequences."""

from __future__ import annotations

from typing import Any

from .utils import flatten


def flat_accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """The share of tokens with the correct label."""
    from sklearn.metrics import accuracy_score

    return accuracy_score(flatten(y_true), flatten(y_pred))


def _averaged(true: list[Any], predicted: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """scikit-learn takes 1 for the positive one of two labels. If there is no such label, nor another choice, the figure
    is averaged over both labels, weighted by their counts."""
    found = set(true) | set(predicted)
    if len(found) <= 2 and not {"average", "pos_label", "labels"} & set(keywords) and 1 not in found:
        return {**keywords, "average": "weighted"}
    return keywords


def flat_precision_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Precision of tokens; arguments as of scikit-learn's precision_score."""
    from sklearn.metrics import precision_score

    true, predicted = flatten(y_true), flatten(y_pred)
    return precision_score(true, predicted, **_averaged(true, predicted, kwargs))


def flat_recall_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Recall of tokens; arguments as of scikit-learn's recall_score."""
    from sklearn.metrics import recall_score

    true, predicted = flatten(y_true), flatten(y_pred)
    return recall_score(true, predicted, **_averaged(true, predicted, kwargs))


def flat_f1_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """F1 of tokens; arguments as of scikit-learn's f1_score."""
    from sklearn.metrics import f1_score

    true, predicted = flatten(y_true), flatten(y_pred)
    return f1_score(true, predicted, **_averaged(true, predicted, kwargs))


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **kwargs: Any) -> Any:
    """F-beta of tokens; arguments as of scikit-learn's fbeta_score."""
    from sklearn.metrics import fbeta_score

    true, predicted = flatten(y_true), flatten(y_pred)
    return fbeta_score(true, predicted, beta=beta, **_averaged(true, predicted, kwargs))


def flat_classification_report(y_true: Any, y_pred: Any, labels: Any = None, **kwargs: Any) -> Any:
    """scikit-learn's classification_report of tokens."""
    from sklearn.metrics import classification_report

    return classification_report(flatten(y_true), flatten(y_pred), labels=labels, **kwargs)


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """The share of sequences with all labels correct; 0 if there are none."""
    if not len(y_true):
        return 0
    return sum(list(true) == list(predicted) for true, predicted in zip(y_true, y_pred)) / len(y_true)
