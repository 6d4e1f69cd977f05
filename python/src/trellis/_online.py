"""Learning from sequences as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Sequence

from . import _trellis
from ._model import Model
from ._options import as_settings
from ._signatures import RUN, TRAIN, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import OnlineOptions


class OnlineLearner:
    """A learner that takes sequences as they come and gives a model at any time.

    `type` is "perceptron" with any of its algorithms, "mira", or, with algorithm="sgd", "crf", "maxent" or "memm".
    Labels and attributes may appear at any time. Items are as in `train()`. `init` is a model to start from.

    >>> learner = OnlineLearner(type="perceptron")
    >>> for _ in range(3):
    ...     _ = learner.partial_fit([[{"w": "the"}, {"w": "cat"}]], [["DET", "NOUN"]])
    >>> learner.model().tag([{"w": "the"}, {"w": "cat"}])
    ['DET', 'NOUN']
    >>> learner.sequences
    3

    A pickle of a learner holds its whole state: it goes on to the last bit as this one would.
    """

    @takes_options(TRAIN | RUN, ("dev",))
    def __init__(
        self,
        init: Model | None = None,
        *,
        columns: Sequence[str] | None = None,
        templates: str | None = None,
        **options: Unpack[OnlineOptions],
    ) -> None:
        settings = as_settings(options)
        if columns is None and init is not None and init.has_templates:
            columns = init.columns
        if columns is None and (templates is not None or "features" in settings):
            columns = ("word",)
        if columns is None:
            settings["format"] = "crfsuite"  # attributes: no templates
        self.columns = None if columns is None else tuple(columns)
        self._core = _trellis.Online(settings, None if init is None else init._core, templates, self.columns)

    def partial_fit(
        self, X: Iterable[Any], y: Iterable[Any], sample_weight: Iterable[float] | None = None
    ) -> OnlineLearner:
        """Learns from sequences and their labels, in their order; one bad sequence, and nothing is learned."""
        weights = None if sample_weight is None else list(sample_weight)
        self._core.learn(list(X), list(y), weights, self.columns)
        return self

    def model(self) -> Model:
        """The model of what was learned so far, which does not change when the learner goes on."""
        return Model(self._core.model(), self.columns)

    @property
    def sequences(self) -> int:
        """How many sequences were learned from."""
        return self._core.sequences()

    def to_bytes(self) -> bytes:
        """The whole state."""
        return self._core.save()

    @classmethod
    def from_bytes(cls, state: bytes, columns: Sequence[str] | None = None) -> OnlineLearner:
        """A learner that goes on where the one of `to_bytes()` was."""
        learner = cls.__new__(cls)
        learner.columns = None if columns is None else tuple(columns)
        learner._core = _trellis.Online.restore(bytes(state), learner.columns)
        return learner

    def __reduce__(self) -> tuple[Any, ...]:
        return OnlineLearner.from_bytes, (self.to_bytes(), self.columns)

    def __repr__(self) -> str:
        return f"<trellis.OnlineLearner: {self.sequences} sequences>"
