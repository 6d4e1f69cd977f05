"""An estimator for scikit-learn: every learner of Trellis with fit, predict, grid search, pipelines and pickles.

>>> from trellis.sklearn import SequenceTagger
>>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
>>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
>>> tagger = SequenceTagger(type="crf", l2=0.1).fit(X, y)
>>> list(tagger.predict([[{"word": "the"}, {"word": "dog"}]]))
[['DET', 'NOUN']]
>>> tagger.score(X, y)
1.0

It works with scikit-learn 1.2 and later.
"""

from __future__ import annotations

import operator
from typing import Any, Iterable

import numpy
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._model import Model
from ._online import OnlineLearner
from ._signatures import RUN, TRAIN, chosen, keyword, takes_options
from ._threads import shared_threads
from ._training import train

# Options that name files to write, or that arguments of their own stand for.
_WITHOUT = ("type", "columns", "from", "dev", "log", "checkpoint", "every", "resume", "unlabelled", "model")
_NAMES = [keyword(option.name) for option in chosen(TRAIN | RUN, _WITHOUT)]


class SequenceTagger(BaseEstimator):  # type: ignore[misc]
    """A sequence labeller as an estimator.

    X is a list of sequences of items, y a list of sequences of labels. Items are as in `trellis.train()`: dicts or lists
    of attributes, or tokens and columns with `features` or `templates`.

    `type` is the learner: "crf", "perceptron", "hmm", "memm", "mira", "ssvm" or "maxent". `columns` names the columns of
    items, `templates` is the text of feature templates. All other arguments are options of training, None for their
    defaults; `trellis.options()` describes them. `threads` is by default the environment variable OMP_NUM_THREADS, which
    joblib sets in its workers, or else all processors; the result does not depend on it.

    After `fit()`, `model_` is the `trellis.Model`, and `classes_` has the labels in the order of `predict_proba()`.
    """

    # scikit-learn takes the parameters of an estimator from the signature of its __init__.
    @takes_options(TRAIN | RUN, _WITHOUT)
    def __init__(self, type: str = "crf", *, columns: Any = None, templates: str | None = None, **options: Any) -> None:
        self.type = type
        self.columns = columns
        self.templates = templates
        for name in _NAMES:
            setattr(self, name, options.pop(name, None))
        if options:
            raise TypeError(f"unknown option {next(iter(options))!r}")

    def _options(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in _NAMES}
        if given["threads"] is None:
            given["threads"] = shared_threads()
        return {"type": self.type, **{name: value for name, value in given.items() if value is not None}}

    # ---- learning

    def fit(self, X: Any, y: Any, sample_weight: Iterable[float] | None = None, *, dev: Any = None) -> SequenceTagger:
        """Learns from sequences, from scratch. `dev` is held-out data, a pair (X, y), that decides when to stop."""
        self._learner: OnlineLearner | None = None
        model = train(
            X,
            y,
            dev=dev,
            columns=self.columns,
            sample_weight=sample_weight,
            templates=self.templates,
            **self._options(),
        )
        return self._take(model)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Iterable[float] | None = None
    ) -> SequenceTagger:
        """Goes on learning from sequences, one update each; labels and attributes may be new.

        For the types perceptron and mira, and by stochastic gradient descent for crf, maxent and memm. After `fit()` it
        starts from that model. `classes` is not needed.
        """
        if getattr(self, "_learner", None) is None:
            self._learner = OnlineLearner(
                getattr(self, "model_", None), columns=self.columns, templates=self.templates, **self._online_options()
            )
        learner = self._learner
        assert learner is not None
        learner.partial_fit(X, y, sample_weight)
        return self._take(learner.model())

    def _online_options(self) -> dict[str, Any]:
        given = self._options()
        if self.type in ("crf", "maxent", "memm") and given.get("algorithm") in (None, "default"):
            given["algorithm"] = "sgd"
        return given

    def _take(self, model: Model) -> SequenceTagger:
        self.model_ = model
        self.classes_ = numpy.array(model.labels, dtype=object)
        return self

    # ---- predictions

    def predict(self, X: Any) -> Any:
        """The labels of sequences: an array of lists."""
        check_is_fitted(self, "model_")
        return _array_of(self.model_.tag_many(X))

    def predict_proba(self, X: Any) -> Any:
        """The probability of each label, in the order of `classes_`, at each position: an array of arrays
        [length, labels], as long as the sequences. For probabilistic types: crf, maxent, hmm and memm."""
        check_is_fitted(self, "model_")
        return _array_of([self.model_.marginals(items) for items in X])

    def score(self, X: Any, y: Any, sample_weight: Iterable[float] | None = None) -> float:
        """The share of tokens with the correct label, of sequences with these weights."""
        gold = [list(labels) for labels in y]
        weights = [1.0] * len(gold) if sample_weight is None else list(sample_weight)
        correct = total = 0.0
        predictions = self.predict(X)
        if not len(gold) == len(weights) == len(predictions):
            raise ValueError(f"X, y and sample_weight differ in length: {len(predictions)}, {len(gold)}, {len(weights)}")
        for number, (labels, predicted, weight) in enumerate(zip(gold, predictions, weights)):
            if len(labels) != len(predicted):
                raise ValueError(f"sequence {number} has {len(predicted)} items and {len(labels)} labels")
            correct += weight * sum(map(operator.eq, labels, predicted))
            total += weight * len(labels)
        return correct / total if total else 0.0

    # ---- what scikit-learn asks

    def _more_tags(self) -> dict[str, Any]:
        """Up to scikit-learn 1.5."""
        return {"requires_y": True, "X_types": ["sequences"], "no_validation": True}

    def __sklearn_tags__(self) -> Any:
        """From scikit-learn 1.6 on."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def _array_of(values: list[Any]) -> Any:
    """One dimension, also where all values have the same length."""
    array = numpy.empty(len(values), dtype=object)
    for number, value in enumerate(values):
        array[number] = value
    return array
