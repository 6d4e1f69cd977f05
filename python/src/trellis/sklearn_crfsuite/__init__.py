"""sklearn-crfsuite's module `sklearn_crfsuite`, on Trellis: the same estimator, metrics, pickles and model files.

>>> from trellis import sklearn_crfsuite
>>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
>>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
>>> crf = sklearn_crfsuite.CRF(c2=0.1).fit(X, y)
>>> crf.predict_single([{"word": "the"}, {"word": "dog"}])
['DET', 'NOUN']

`trellis.dropin` makes `import sklearn_crfsuite` mean this module. `trellis.sklearn` has an estimator for all that
Trellis can do.
"""

from .estimator import CRF

__all__ = ["CRF"]
