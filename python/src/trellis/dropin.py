"""Lets scripts written for python-crfsuite and sklearn-crfsuite use Trellis, unchanged.

    python -m trellis.dropin script.py [ARGUMENT...]
    python -m trellis.dropin -m module [ARGUMENT...]

run a script in which `import pycrfsuite` and `import sklearn_crfsuite` mean `trellis.pycrfsuite` and
`trellis.sklearn_crfsuite`. A program does the same by calling `trellis.dropin.install()` before it imports them, for
example to load an old pickle:

>>> import trellis.dropin
>>> trellis.dropin.install()
>>> import pycrfsuite
>>> pycrfsuite.__name__
'trellis.pycrfsuite'
>>> trellis.dropin.uninstall()
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Sequence

_NAMES = ("pycrfsuite", "sklearn_crfsuite")


class _Loader(Loader):
    """Gives the module of Trellis, and leaves it as it was."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"trellis.{spec.name}")
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.split(".")[0] not in _NAMES:
            return None
        try:
            importlib.import_module(f"trellis.{fullname}")
        except ModuleNotFoundError as error:
            if error.name == f"trellis.{fullname}":
                return None
            raise
        return ModuleSpec(fullname, _Loader(), is_package="." not in fullname)


_finder = _Finder()
_originals: dict[str, ModuleType] = {}  # that were imported before install()


def _forget() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.split(".")[0] in _NAMES]
    return {name: sys.modules.pop(name) for name in names}


def install() -> None:
    """Makes `import pycrfsuite` and `import sklearn_crfsuite` mean ours, also where they were imported before."""
    if _finder not in sys.meta_path:
        _originals.update(_forget())
        sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Undoes `install()`, for what is imported from now on."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        _forget()
        sys.modules.update(_originals)
        _originals.clear()


_USAGE = "usage: python -m trellis.dropin SCRIPT [ARGUMENT...]\n       python -m trellis.dropin -m MODULE [ARGUMENT...]\n"


def main(arguments: Sequence[str]) -> int:
    """Runs a script, or with -m a module; 2 if there is none."""
    module = bool(arguments) and arguments[0] == "-m"
    rest = list(arguments[1:] if module else arguments)
    if not rest or rest[0] in ("-h", "--help"):
        (sys.stdout if rest else sys.stderr).write(_USAGE)
        return 0 if rest else 2
    if not module and not os.path.exists(rest[0]):
        sys.stderr.write(f"trellis.dropin: no such file: {rest[0]}\n")
        return 2
    install()
    sys.argv = rest
    if module:
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(rest[0]))
        runpy.run_path(rest[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    # The module that other code imports is the one to install, not this copy called __main__.
    sys.exit(importlib.import_module("trellis.dropin").main(sys.argv[1:]))
