"""Corpora in files: reading and writing every format."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Sequence

from . import _trellis
from ._options import as_settings
from ._signatures import READ, RUN, WRITE, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import ReadOptions, WriteOptions


class Sentence(NamedTuple):
    """A sequence of a corpus."""

    items: list[Any]
    """A tuple of all columns for each token, or a dict of attributes in CRFsuite's format."""
    labels: tuple[str, ...] | None
    """None if the corpus has none."""
    weight: float
    line: int
    """Of its first token in the file, from 1."""


class Reader(Iterator[Sentence]):
    """Reads the sequences of a corpus one by one. `close()` it, use it in a `with` statement, or read to the end."""

    def __init__(self, source: str | os.PathLike[str] | bytes, **options: Unpack[ReadOptions]) -> None:
        data = source if isinstance(source, bytes) else os.fspath(source)
        self._core: _trellis.Reader | None = _trellis.Reader(data, as_settings(options))
        self._columns = 0

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> Sentence:
        sentence = Sentence._make(next(self._opened()))
        if not self._columns and sentence.items and isinstance(sentence.items[0], tuple):
            self._columns = len(sentence.items[0])
        return sentence

    @property
    def columns(self) -> tuple[str | None, ...]:
        """The names of the columns, after the first sequence was read; None for one without a name."""
        return self._opened().columns(self._columns)

    def _opened(self) -> _trellis.Reader:
        if self._core is None:
            raise ValueError("the reader is closed")
        return self._core

    def close(self) -> None:
        """Closes the file."""
        self._core = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


@takes_options(READ | RUN)
def read(source: str | os.PathLike[str] | bytes, **options: Unpack[ReadOptions]) -> Reader:
    """Reads a corpus from a path, or from the bytes of a file; compressed ones too.

    Options such as format="conllu", label="UPOS" are those of `trellis convert`.

    >>> [sentence.labels for sentence in read(b"the DET\\ncat NOUN\\n\\na DET\\n")]
    [('DET', 'NOUN'), ('DET',)]
    """
    return Reader(source, **options)


class Writer:
    """Writes sequences to a binary file, or to a path.

    >>> import io
    >>> file = io.BytesIO()
    >>> with Writer(file, output_format="jsonl") as writer:
    ...     writer.write([("the",), ("cat",)], ["DET", "NOUN"])
    >>> file.getvalue()
    b'{"tokens":["the","cat"],"labels":["DET","NOUN"]}\\n'
    """

    def __init__(
        self,
        target: str | os.PathLike[str] | IO[bytes],
        *,
        columns: Sequence[str] | None = None,
        **options: Unpack[WriteOptions],
    ) -> None:
        self._columns = () if columns is None else tuple(columns)
        settings = as_settings(options)
        if self._columns:
            settings["columns"] = ",".join(self._columns)
        self._core: _trellis.Writer | None = _trellis.Writer(settings)
        self._own = isinstance(target, (str, os.PathLike))
        self._file: IO[bytes] = open(target, "wb") if isinstance(target, (str, os.PathLike)) else target

    def write(self, items: Iterable[Any], labels: Iterable[str] | None = None) -> None:
        """Writes a sequence; the labels become the last column.

        Items are tuples, lists or dicts of columns or tokens; dicts of attributes where the format is crfsuite.
        """
        if self._core is None:
            raise ValueError("the writer is closed")
        items = items if isinstance(items, (list, tuple)) else list(items)
        numbers = bool(items) and isinstance(items[0], dict) and not self._columns
        self._core.put(items, labels, None if numbers else self._columns)
        self._file.write(self._core.take())

    def close(self) -> None:
        """Writes the rest; closes the file if it was opened here."""
        if self._core is not None:
            self._file.write(self._core.take())
            self._core = None
            if self._own:
                self._file.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


@takes_options(READ | WRITE)
def write(
    target: str | os.PathLike[str] | IO[bytes],
    sequences: Iterable[Iterable[Any]],
    labels: Iterable[Iterable[str] | None] | None = None,
    *,
    columns: Sequence[str] | None = None,
    **options: Unpack[WriteOptions],
) -> None:
    """Writes sequences and their labels to a file; the option `output_format` is the format."""
    with Writer(target, columns=columns, **options) as writer:
        if labels is None:
            for items in sequences:
                writer.write(items)
        else:
            for items, given in zip(sequences, labels):
                writer.write(items, given)
