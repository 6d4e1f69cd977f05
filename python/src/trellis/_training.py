"""Training data and training."""

from __future__ import annotations

import os
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, Union

from . import _trellis
from ._model import Model
from ._options import as_settings
from ._progress import Bar, Callback, Progress
from ._signatures import READ, RUN, TRAIN, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import ReadOptions, TrainOptions

Path = Union[str, "os.PathLike[str]"]


class Corpus:
    """Labelled sequences in memory, compactly. What is added is copied.

    Items have attributes, or columns if `columns` has their names: then an item is a token (a str), or a list, tuple
    or dict of columns, and attributes are made by templates.

    >>> corpus = Corpus(columns=["word"])
    >>> corpus.add(["the", "cat"], ["DET", "NOUN"])
    >>> len(corpus), corpus.tokens
    (1, 2)
    """

    def __init__(self, columns: Sequence[str] | None = None) -> None:
        self._core = _trellis.Corpus()
        self.columns = None if columns is None else tuple(columns)
        if self.columns:
            self._core.name_columns(self.columns)

    def add(
        self, items: Iterable[Any], labels: Iterable[str] | None = None, *, group: int = 0, weight: float = 1.0
    ) -> None:
        """Adds a sequence. `group` is for `train(holdout=...)`."""
        self._core.add(items, labels, self.columns, group, weight)

    @takes_options(READ | RUN)
    def read(self, path: Path, **options: Unpack[ReadOptions]) -> None:
        """Adds the sequences of a file; options such as format="conllu" say how to read it."""
        self._core.read(os.fspath(path), as_settings(options))

    def __len__(self) -> int:
        return self._core.sizes()[0]

    @property
    def tokens(self) -> int:
        """Tokens of all sequences."""
        return self._core.sizes()[1]

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return self._core.sizes()[2]


def _collect(
    sequences: Iterable[Any], labels: Iterable[Any], columns: Sequence[str] | None, weights: Iterable[float] | None
) -> Corpus:
    """Sequences and their labels as a corpus."""
    iterator = iter(sequences)
    first = next(iterator, None)
    if columns is None and isinstance(first, (list, tuple)) and first and isinstance(first[0], str):
        columns = ["word"]  # plain tokens
    corpus = Corpus(columns)
    add, names = corpus._core.add, corpus.columns
    label_iterator = iter(labels)
    weight_iterator: Any = repeat(1.0) if weights is None else iter(weights)
    missing: Any = object()
    for number, items in enumerate(chain([] if first is None else [first], iterator)):
        gold = next(label_iterator, missing)
        if gold is missing:
            raise ValueError(f"sequence {number} has no labels: y is shorter than X")
        weight = next(weight_iterator, missing)
        if weight is missing:
            raise ValueError(f"sequence {number} has no weight: sample_weight is shorter than X")
        add(items, gold, names, 0, weight)
    if next(label_iterator, missing) is not missing:
        raise ValueError(f"y is longer than X, which has {len(corpus)} sequences")
    return corpus


def _sources(data: Any) -> tuple[Any, ...]:
    """What the extension reads: paths, and tuples (corpus, rule, group)."""
    if isinstance(data, Corpus):
        return ((data._core, 0, 0),)
    if isinstance(data, (str, os.PathLike)):
        return (os.fspath(data),)
    data = list(data)
    if data and all(isinstance(source, (str, os.PathLike)) for source in data):
        return tuple(os.fspath(source) for source in data)
    raise ValueError("sequences need labels: y is missing")


@takes_options(TRAIN | READ | RUN)
def train(
    X: Any,
    y: Iterable[Any] | None = None,
    *,
    dev: Any = None,
    holdout: int | None = None,
    columns: Sequence[str] | None = None,
    sample_weight: Iterable[float] | None = None,
    templates: str | None = None,
    init: Model | Path | None = None,
    progress: Callback | bool | None = None,
    **options: Unpack[TrainOptions],
) -> Model:
    """Trains a model.

    X and y are sequences of items and their labels, lists or generators. An item is

    - a dict: {"word": "cat", "capital": True, "length": 3.0}; a str makes the attribute "word:cat", a number is the
      value of an attribute, a dict, list or set makes attributes that begin with its key;
    - a list of attributes: ["word=cat", "suffix=at"];
    - a token, if sequences are lists of str, or a list, tuple or dict of columns if `columns` has their names. Then
      attributes are made by templates: the option `features` (a preset or a file) or the text `templates`.

    X may also be a `Corpus`, the path of a file, or a list of paths.

    `dev` is held-out data that decides when to stop: a pair (X, y), a `Corpus` or a path. With a `Corpus` as X,
    `holdout` is the group that is held out instead. `init` is a model whose weights are the initial ones.

    `progress` is called with a `Progress` from time to time; if it returns False, the training ends with the best model
    so far, and an exception ends it as well. True shows a bar of tqdm, or lines where tqdm is not installed.

    All other arguments are options of the library, as `trellis train --help` and `trellis.options()` list them, with
    underscores for dashes: type="crf", l2=0.5, epochs=20, threads=2.

    On Ctrl-C the training ends, and the KeyboardInterrupt has the best model so far, or None, as its attribute `model`.
    """
    settings = as_settings(options)
    if isinstance(init, (str, os.PathLike)):
        init = Model.open(init)
    if y is not None:
        X = _collect(X, y, columns, sample_weight)
    if isinstance(X, Corpus):
        columns = X.columns
    if isinstance(dev, tuple) and len(dev) == 2 and not isinstance(dev[0], (str, os.PathLike)):
        dev = _collect(*dev, columns, None)
    train_sources = _sources(X)
    dev_sources = () if dev is None else _sources(dev)
    if holdout is not None:
        if not isinstance(X, Corpus) or dev is not None:
            raise ValueError("holdout is for a Corpus as X, without dev")
        train_sources, dev_sources = ((X._core, 2, holdout),), ((X._core, 1, holdout),)
    bar = Bar() if progress is True else None
    callback = bar if bar else progress if callable(progress) else None
    report: Callable[[dict[str, Any]], Any] | None = None
    if callback is not None:
        observe = callback
        report = lambda figures: observe(Progress(**figures))  # noqa: E731
    try:
        core, error = _trellis.train(
            settings, train_sources, dev_sources, None if init is None else init._core, templates, report
        )
    finally:
        if bar:
            bar.close()
    model = None if core is None else Model(core, columns)
    if error is not None:
        setattr(error, "model", model)
        raise error
    if model is None:
        raise RuntimeError("the training was interrupted before anything was learned")
    return model
