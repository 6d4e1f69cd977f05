"""The model of an estimator: bytes in memory, and a file only for those who ask for its name."""

from __future__ import annotations

import os
import tempfile
import weakref
from typing import Any

_DATA = "__FILE_RESOURCE_DATA__"  # where pickles of sklearn-crfsuite hold the model


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child does not own the file
        try:
            os.unlink(path)
        except OSError:
            pass


class FileResource:
    """A model file with a given name, or one that is kept in memory.

    Of one in memory, `name` makes a temporary file when it is asked for, which is removed with this object or when the
    interpreter ends, unless `keep_tempfiles`.
    """

    def __init__(
        self, filename: str | None = None, keep_tempfiles: bool = False, suffix: str = "", prefix: str = ""
    ) -> None:
        self.auto = filename is None
        self.keep_tempfiles = keep_tempfiles
        self.suffix = suffix
        self.prefix = prefix
        self._forget(filename)

    def _forget(self, name: str | None) -> None:
        self._name = name
        self._data: bytes | None = None
        self._finalizer: weakref.finalize[[str, int], FileResource] | None = None

    @property
    def name(self) -> str | None:
        """The path of the file; None while there is no model."""
        if self._name is None and self._data is not None:
            self.ensure_name()
        return self._name

    @name.setter
    def name(self, path: str | None) -> None:
        self._name = path

    def ensure_name(self) -> None:
        """Makes the file, if there is none."""
        if self._name is not None:
            return
        if not self.auto:
            raise ValueError("the model has no file name")
        descriptor, self._name = tempfile.mkstemp(self.suffix, self.prefix)
        with os.fdopen(descriptor, "wb") as file:
            file.write(self._data or b"")
        if not self.keep_tempfiles:
            self._finalizer = weakref.finalize(self, _remove, self._name, os.getpid())

    def cleanup(self) -> None:
        """Drops a model in memory, and its file unless it is to be kept."""
        if not self.auto:
            return
        if self._finalizer is not None:
            self._finalizer()
        self._forget(None)

    def refresh(self) -> None:
        """Makes room for a new model."""
        self.cleanup()

    def put(self, data: bytes) -> None:
        """Takes the model of an estimator whose model has no file name."""
        self.cleanup()
        self._data = data
        if self.keep_tempfiles:
            self.ensure_name()

    def read(self) -> bytes | None:
        """The bytes of the model; None if there is none yet."""
        if self._data is not None or self._name is None:
            return self._data
        with open(self._name, "rb") as file:
            return file.read()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {
            "name": None if self.auto else self._name,
            "auto": self.auto,
            "keep_tempfiles": self.keep_tempfiles,
            "suffix": self.suffix,
            "prefix": self.prefix,
        }
        data = self.read() if self.auto else None
        if data is not None:
            state[_DATA] = data
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.auto = state.get("auto", True)
        self.keep_tempfiles = state.get("keep_tempfiles", False)
        self.suffix = state.get("suffix", "")
        self.prefix = state.get("prefix", "")
        self._forget(state.get("name"))
        if _DATA in state:
            self.put(state[_DATA])
