"""Sequence labelling with CRFs, HMMs, MEMMs, perceptrons and more.

>>> import trellis
>>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
>>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
>>> model = trellis.train(X, y, type="crf")
>>> model.tag([{"word": "the"}, {"word": "dog"}])
['DET', 'NOUN']

`train()` makes a `Model`, which tags sequences. A `Corpus` holds training data in memory. A `Chain` is the trellis by
itself, for scores that something else computed. An `OnlineLearner` learns from sequences as they come. `options()`
lists the options that `train()` and `Model` take.
"""

from ._chain import Chain
from ._model import Labelling, Model, Weight
from ._online import OnlineLearner
from ._options import Option, options
from ._training import Corpus, Progress, train
from ._trellis import version as __version__

__all__ = [
    "Chain",
    "Corpus",
    "Labelling",
    "Model",
    "OnlineLearner",
    "Option",
    "Progress",
    "Weight",
    "__version__",
    "options",
    "train",
]
