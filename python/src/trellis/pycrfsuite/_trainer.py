"""Training: python-crfsuite's BaseTrainer and Trainer."""

from __future__ import annotations

import os
import warnings
from typing import Any, Iterable, Mapping

from .. import _trellis
from .._threads import shared_threads
from . import _files
from ._log import TrainingLog
from ._logparser import TrainLogParser
from ._parameters import ALIASES, PARAMETERS, options, parse

CRFSUITE_VERSION = "0.12.2"
"""The version of CRFsuite whose behaviour this is."""

_ALL, _ONLY, _EXCEPT = 0, 1, 2  # which groups of a corpus are read


class CRFSuiteError(Exception):
    """An error of CRFsuite, by its code. Here errors are Python's own: OSError, ValueError, MemoryError."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(f"error {code}")


class BaseTrainer:
    """A data set and a training algorithm. `message()` receives the log of a training.

    `algorithm` is "lbfgs", "l2sgd", "ap" (averaged perceptron), "pa" (passive-aggressive) or "arow"; `params` are its
    parameters, see `params()` and `help()`.
    """

    verbose: Any = None

    def __new__(cls, *args: Any, **keywords: Any) -> BaseTrainer:
        self = super().__new__(cls)
        self._corpus = _trellis.Corpus()
        self._labels, self._groups = {}, {}
        BaseTrainer.select(self, "lbfgs")  # also for subclasses whose __init__ does not call this one's
        return self

    _corpus: _trellis.Corpus
    _labels: dict[Any, None]
    _groups: dict[int, int]  # how many sequences each has
    _algorithm: str
    _values: dict[str, Any]

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    # ---- data

    def append(self, xseq: Any, yseq: Iterable[Any], group: int = 0) -> None:
        """Adds a sequence of items and its labels; `group` is for `train(holdout=...)`."""
        labels = yseq if isinstance(yseq, (list, tuple)) else list(yseq)
        group = int(group)
        if not labels and not len(_trellis.Items(xseq)):
            return  # nothing to learn from
        self._corpus.add(xseq, labels, None, group & 0xFFFFFFFF, 1.0, True)
        self._groups[group] = self._groups.get(group, 0) + 1
        self._labels.update(dict.fromkeys(labels))

    def clear(self) -> None:
        """Removes all sequences."""
        self._corpus, self._labels, self._groups = _trellis.Corpus(), {}, {}

    # ---- parameters

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Selects the training algorithm, with the default values of its parameters. The data stays."""
        name = algorithm.lower()
        name = ALIASES.get(name, name)
        if name not in PARAMETERS or type.lower() != "crf1d":
            raise ValueError(f"there is no algorithm {algorithm!r} of type {type!r}; there are: {', '.join(PARAMETERS)}")
        self._algorithm = name
        self._values = {key: parameter.default for key, parameter in PARAMETERS[name].items()}

    def params(self) -> list[str]:
        """The names of the parameters of the algorithm."""
        return list(self._values)

    def get_params(self) -> dict[str, Any]:
        """All parameters with their values."""
        return {name: self.get(name) for name in self.params()}

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Sets some parameters."""
        for name, value in params.items():
            self.set(name, value)

    def get(self, name: str) -> Any:
        """The value of a parameter."""
        self._check(name)
        return self._values[name]

    def set(self, name: str, value: Any) -> None:
        """Sets a parameter; the value may be text. One that has no effect here gives a warning unless it is the default."""
        self._check(name)
        parameter = PARAMETERS[self._algorithm][name]
        self._values[name] = parse(name, parameter, value)
        if parameter.unused and self._values[name] != parameter.default:
            warnings.warn(f"{name}={value!r} has no effect: {parameter.unused}", stacklevel=2)

    def help(self, name: str) -> str:
        """What a parameter means."""
        self._check(name)
        return PARAMETERS[self._algorithm][name].help

    def _check(self, name: str) -> None:
        if name not in self._values:
            raise ValueError(
                f"the algorithm {self._algorithm} has no parameter {name!r}; it has: {', '.join(self._values)}"
            )

    # ---- training

    def message(self, message: str) -> None:
        """Receives the log piece by piece; prints it if the trainer is verbose. An exception ends the training."""
        if self.verbose:
            print(message, end="")

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Trains a model and writes it to a file, which CRFsuite can read; "" writes none.

        Sequences of the group `holdout` are not trained on but scored after each iteration.
        """
        path = os.fsdecode(model)
        if path:
            _files.check_writable(path)
        self._run(holdout, (lambda data: _files.write(path, data)) if path else None)

    def _before_train(self) -> None:
        """For subclasses: called before each training."""

    def _run(self, holdout: int, store: Any) -> None:
        """Trains; `store` is called with the bytes of the model's file, unless it is None."""
        self._before_train()
        holdout = int(holdout)
        held_out = self._groups.get(holdout, 0) if holdout >= 0 else 0
        sequences = sum(self._groups.values()) - held_out
        labels = [_decode(label) for label in self._labels]
        log = TrainingLog(self.message, self._algorithm, dict(self._values), labels, sequences)
        log.begin(holdout)
        core = self._learn(holdout, held_out, log) if sequences else None
        if core is None:
            log.fail()
        else:
            log.end()
        if store is not None:
            _store(core, log, store)

    def _learn(self, holdout: int, held_out: int, log: TrainingLog) -> _trellis.Model:
        settings = {**options(self._algorithm, self._values), "threads": str(shared_threads())}
        group = holdout & 0xFFFFFFFF
        train = ((self._corpus, _EXCEPT if holdout >= 0 else _ALL, group),)
        dev = ((self._corpus, _ONLY, group),) if held_out else ()
        core, error = _trellis.train(settings, train, dev, None, None, log)
        if error is not None:
            raise error
        if core is None:
            raise RuntimeError("the training ended before its first iteration")
        log.prepare(0)
        return core


def _decode(label: Any) -> str:
    return label if isinstance(label, str) else bytes(label).decode("utf-8", "surrogateescape")


def _store(core: _trellis.Model | None, log: TrainingLog, store: Any) -> None:
    data = _files.empty_model() if core is None else core.to_crfsuite()
    active = 0 if core is None else sum(1 for _ in core.weights())
    attributes = 0 if core is None else len(core.attributes())
    labels = 0 if core is None else len(core.labels())
    log.store(active, attributes, labels, lambda: store(data))


class Trainer(BaseTrainer):
    """A trainer that reads its own log: `logparser` has the figures of the training, and the hooks `on_*` are called as
    it goes on, with the piece of the log that belongs to them, if the trainer is verbose. They print it."""

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Feeds the log parser, and calls the hook of the event that the message completes."""
        assert self.logparser is not None
        event = self.logparser.feed(message)
        if event is None or not self.verbose:
            return
        more: dict[str, tuple[Any]] = {
            "featgen_progress": (self.logparser.featgen_percent,),
            "iteration": (self.logparser.last_iteration,),
        }
        getattr(self, "on_" + event)(self.logparser.last_log, *more.get(event, ()))

    def on_start(self, log: str) -> None:
        """The training begins."""
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """A step of the feature generation."""
        print(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """The features are known."""
        print(log, end="")

    def on_prepared(self, log: str) -> None:
        """The first iteration begins."""
        print(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """There is nothing to learn from."""
        print(log, end="")

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """An iteration ended; `info` has its figures."""
        print(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """The last iteration has ended."""
        print(log, end="")

    def on_end(self, log: str) -> None:
        """The model is stored."""
        print(log, end="")
