"""A trainer that prints a line for each iteration."""

from __future__ import annotations

from typing import Any

from ..pycrfsuite import Trainer


class LinePerIterationTrainer(Trainer):
    """Prints the figures of an iteration on one line, and those of the labels at the end."""

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Prints the line."""
        parts = [f"Iter {info['num']:<3}", f"time={info.get('time', 0.0):<5.2f}", f"loss={info.get('loss', 0.0):<8.2f}"]
        if "active_features" in info:
            parts.append(f"active={info['active_features']:<5}")
        if "avg_precision" in info:
            parts += [f"{name}={info[key]:.3f} " for name, key in _AVERAGES]
            parts.append(f"Acc(item/seq)={info['item_accuracy_float']:.3f} {info['instance_accuracy_float']:.3f} ")
        if "feature_norm" in info:
            parts.append(f"feature_norm={info['feature_norm']:<8.2f}")
        print("  ".join(parts).strip())

    def on_optimization_end(self, log: str) -> None:
        """Prints a table of the labels, if data was held out."""
        assert self.logparser is not None
        scores = (self.logparser.last_iteration or {}).get("scores")
        if scores:
            print(_table(scores))
        super().on_optimization_end(log)


_AVERAGES = (("precision", "avg_precision"), ("recall", "avg_recall"), ("F1", "avg_f1"))


def _table(scores: dict[str, Any]) -> str:
    width = max(5, *map(len, scores))
    head = f"{'Label':<{width}}  {'Precision':>9}  {'Recall':>6}  {'F1':>5}  {'Support':>7}"
    rows = [
        f"{label:<{width}}  {score.precision or 0:9.3f}  {score.recall or 0:6.3f}  {score.f1 or 0:5.3f}  {score.ref:7}"
        for label, score in sorted(scores.items())
    ]
    rule = "-" * len(head)
    return "\n".join(["=" * len(head), head, rule, *rows, rule])
