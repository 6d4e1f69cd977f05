"""python-crfsuite's module `pycrfsuite`, on Trellis: the same names, arguments, hooks and model files.

>>> from trellis import pycrfsuite
>>> trainer = pycrfsuite.Trainer(verbose=False)
>>> trainer.append([{"word": "the"}, {"word": "cat"}], ["DET", "NOUN"])
>>> trainer.set_params({"c2": 0.01})
>>> trainer.train("")

`trellis.dropin` makes `import pycrfsuite` mean this module. Training uses all processors and lets go of the interpreter
lock; see the guide *From sklearn-crfsuite in five minutes* for what is better and what differs.
"""

from . import _dumpparser, _logparser
from ._items import ItemSequence
from ._tagger import Tagger
from ._trainer import CRFSUITE_VERSION, BaseTrainer, CRFSuiteError, Trainer

__all__ = ["CRFSUITE_VERSION", "BaseTrainer", "CRFSuiteError", "ItemSequence", "Tagger", "Trainer"]
