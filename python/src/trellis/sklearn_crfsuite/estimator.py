"""sklearn-crfsuite's estimator."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Iterable

import numpy

from ..pycrfsuite import BaseTrainer, Tagger
from ..pycrfsuite._dumpparser import ParsedDump
from ._fileresource import FileResource
from .compat import BaseEstimator
from .trainer import LinePerIterationTrainer

# The arguments of CRF that are parameters of the trainer, with their names there.
_PARAMETERS = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    **{name: name for name in ("c1", "c2", "max_iterations", "num_memories", "epsilon", "period", "delta")},
    **{name: name for name in ("linesearch", "max_linesearch")},
    **{f"calibration_{name}": f"calibration.{name}" for name in ("eta", "rate", "samples", "candidates", "max_trials")},
    "pa_type": "type",
    **{name: name for name in ("c", "error_sensitive", "averaging", "variance", "gamma")},
}


class CRF(BaseEstimator):  # type: ignore[misc]
    """A CRF, or another of CRFsuite's models, as an estimator of scikit-learn.

    `algorithm` is "lbfgs" (the default), "l2sgd", "ap", "pa" or "arow". The other arguments up to `gamma` are parameters
    of the algorithms, None for the default; `trellis.pycrfsuite.Trainer.help()` describes them. One that the algorithm
    does not have is a ValueError.

    `model_filename` is where the model is kept, or a model to use without `fit()`. Without it the model is part of the
    estimator, and of its pickle. `trainer_cls` replaces the trainer.
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: float | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool | None = False,
        trainer_cls: Any = None,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.modelfile = FileResource(model_filename, bool(keep_tempfiles), ".crfsuite", "model")
        self.training_log_: Any = None
        self._tagger: Tagger | None = None
        self._info_cached: ParsedDump | None = None

    # ---- training

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Trains on sequences of items and their labels; the dev data, if given, is scored after each iteration."""
        if (X_dev is None) != (y_dev is None):
            raise ValueError("X_dev and y_dev must be given together")
        trainer = self._make_trainer()
        self._append(trainer, X, y, "loading training data", 0)
        if X_dev is not None:
            self._append(trainer, X_dev, y_dev, "loading dev data", 1)
        self._train(trainer, -1 if X_dev is None else 1)
        self._tagger = self._info_cached = None
        self.training_log_ = getattr(trainer, "logparser", None)
        return self

    def _make_trainer(self) -> Any:
        given = {name: getattr(self, argument) for argument, name in _PARAMETERS.items()}
        params = {name: value for name, value in given.items() if value is not None}
        make = self.trainer_cls or LinePerIterationTrainer
        return make(algorithm=self.algorithm, params=params, verbose=self.verbose)

    def _append(self, trainer: Any, X: Any, y: Any, title: str, group: int) -> None:
        data: Iterable[Any] = zip(X, y)
        if self.verbose:
            data = _with_progress(data, title, len(X) if hasattr(X, "__len__") else None)
        for items, labels in data:
            trainer.append(items, labels, group)

    def _train(self, trainer: Any, holdout: int) -> None:
        resource = self.modelfile
        if not resource.auto:
            trainer.train(resource.name, holdout=holdout)
        elif isinstance(trainer, BaseTrainer) and type(trainer).train is BaseTrainer.train:
            trainer._run(holdout, resource.put)
        else:  # a trainer of the user's own
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.crfsuite")
                trainer.train(path, holdout=holdout)
                with open(path, "rb") as file:
                    resource.put(file.read())

    # ---- predictions

    def predict(self, X: Any) -> Any:
        """The labels of sequences, as numpy.array(list, dtype=object)."""
        return numpy.array([self.predict_single(items) for items in X], dtype=object)

    def predict_single(self, xseq: Any) -> list[str]:
        """The labels of a sequence."""
        return self._fitted().tag(xseq)

    def predict_marginals(self, X: Any) -> Any:
        """The probability of every label at every position of sequences, as numpy.array(list, dtype=object)."""
        return numpy.array([self.predict_marginals_single(items) for items in X], dtype=object)

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """The probability of every label at every position of a sequence."""
        tagger = self._fitted()
        tagger.set(xseq)
        return tagger.marginals()

    def score(self, X: Any, y: Any) -> Any:
        """The share of tokens with the correct label; `trellis.sklearn_crfsuite.metrics` has other figures."""
        from .metrics import flat_accuracy_score

        return flat_accuracy_score(y, self.predict(X))

    def _fitted(self) -> Tagger:
        tagger = self.tagger_
        if tagger is None:
            raise _not_fitted()(f"this {type(self).__name__} is not fitted yet: call fit() first")
        return tagger

    # ---- the model

    @property
    def tagger_(self) -> Tagger | None:
        """The tagger; None before `fit()`."""
        if self._tagger is None:
            data = self.modelfile.read()
            if data is None:
                return None
            tagger = Tagger()
            tagger.open_inmemory(data)
            self._tagger = tagger
        return self._tagger

    @property
    def _info(self) -> ParsedDump | None:
        if self._info_cached is None and self.tagger_ is not None:
            self._info_cached = self.tagger_.info()
        return self._info_cached

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def size_(self) -> int | None:
        """Bytes of the model."""
        return None if self._info is None else int(self._info.header["size"])

    @property
    def num_attributes_(self) -> int | None:
        """How many attributes have a weight."""
        return None if self._info is None else len(self._info.attributes)

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes that have a weight."""
        return None if self._info is None else list(self._info.attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """{(attribute, label): weight}"""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """{(from, to): weight}"""
        return None if self._info is None else self._info.transitions

    # ---- pickles

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tagger": None, "_info_cached": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        resource = state["modelfile"]
        missing = {
            "model_filename": None if resource.auto else resource.name,
            "keep_tempfiles": resource.keep_tempfiles,
            "training_log_": None,
        }  # in the pickles of older versions
        self.__dict__.update({**missing, **state, "_tagger": None, "_info_cached": None})


def _with_progress(data: Iterable[Any], title: str, total: int | None) -> Iterable[Any]:
    try:
        from tqdm import tqdm
    except ImportError:
        return data
    return tqdm(data, title, total, leave=True)  # type: ignore[no-any-return]


def _not_fitted() -> type[Exception]:
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return ValueError
    return NotFittedError  # type: ignore[no-any-return]
