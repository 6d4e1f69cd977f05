"""How many threads a training uses that other trainings may run beside."""

from __future__ import annotations

import os


def shared_threads() -> int:
    """OMP_NUM_THREADS, which joblib sets in its workers so that they share the processors; 0, all, without it.

    The model does not depend on it.
    """
    text = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(int(text), 256) if text.isascii() and text.isdigit() else 0
