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

from ._annotation import Annotation, Contribution, Explanation, Explanations, Picture, Span
from ._chain import Chain
from ._evaluation import Comparison, Evaluation, compare, evaluate
from ._files import Reader, Sentence, Writer, read, write
from ._model import Labelling, Model, Weight
from ._online import OnlineLearner
from ._options import Option, learners, options
from ._progress import Bar, Progress
from ._training import Corpus, train
from ._trellis import ItemError
from ._trellis import version as __version__

__all__ = [
    "Annotation",
    "Bar",
    "Chain",
    "Comparison",
    "Contribution",
    "Corpus",
    "Evaluation",
    "Explanation",
    "Explanations",
    "ItemError",
    "Labelling",
    "Model",
    "OnlineLearner",
    "Option",
    "Picture",
    "Progress",
    "Reader",
    "Sentence",
    "Span",
    "Weight",
    "Writer",
    "__version__",
    "compare",
    "evaluate",
    "learners",
    "options",
    "read",
    "train",
    "write",
]
