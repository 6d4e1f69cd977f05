"""scikit-learn's BaseEstimator, or an empty one where it is not installed."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.base import BaseEstimator
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)


__all__ = ["BaseEstimator"]
