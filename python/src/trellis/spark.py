"""Tagging in Spark: a column of sequences gets a column of labels.

    from trellis import spark
    tagged = spark.tag(frame, "ner.model", items="tokens")

The model is sent to each executor once, as a file. Its processes map that file, so they share one copy in memory.
Needs PySpark 3.3 or later with pyarrow, and this package on every executor.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from ._model import Model
from ._options import as_settings
from ._signatures import RUN, TAG, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import TagOptions


@takes_options(TAG | RUN)
def tag(
    frame: Any,
    model: Model | str | os.PathLike[str],
    *,
    items: str = "tokens",
    labels: str = "labels",
    **options: Unpack[TagOptions],
) -> Any:
    """The data frame with a column of labels added: an array of strings for the array in the column `items`.

    The elements of `items` are what `Model.tag()` takes: strings for a model of tokens, arrays or structs of strings for
    one of columns, arrays of strings or maps for one of attributes. Where `items` is null, so are the labels.

    The model is a `Model` or the path of one on the driver. The labels are those of `Model.tag_many()` and of the
    command. An executor uses one thread for each of its tasks.
    """
    from pyspark.sql.types import ArrayType, StringType, StructField, StructType

    if labels in frame.columns:
        raise ValueError(f"the data frame has a column {labels!r} already")
    if items not in frame.columns:
        raise ValueError(f"the data frame has no column {items!r}; it has: {', '.join(frame.columns)}")
    as_settings(options)  # an unknown option is an error here, not in an executor
    name, columns = _ship(frame.sparkSession.sparkContext, model), getattr(model, "columns", None)
    place = frame.columns.index(items)

    def tag_batches(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import SparkFiles

        opened = _open(SparkFiles.get(name), columns)
        for batch in batches:
            yield _tag_batch(batch, opened, place, labels, options)

    added = StructField(labels, ArrayType(StringType()))
    return frame.mapInArrow(tag_batches, StructType([*frame.schema.fields, added]))


@lru_cache(maxsize=8)
def _open(path: str, columns: tuple[str, ...] | None) -> Model:
    """The model of a file, opened once in each process; the operating system shares its pages among them."""
    return Model.open(path, columns)


def _tag_batch(batch: Any, model: Model, place: int, labels: str, options: TagOptions) -> Any:
    """An Arrow record batch with the column of labels added."""
    import pyarrow

    rows = [_as_items(row) for row in batch.column(place).to_pylist()]
    found = iter(model.tag_many([row for row in rows if row is not None], **options))
    column = pyarrow.array([None if row is None else next(found) for row in rows], pyarrow.list_(pyarrow.string()))
    return pyarrow.RecordBatch.from_arrays([*batch.columns, column], [*batch.schema.names, labels])


def _as_items(row: list[Any] | None) -> list[Any] | None:
    """A sequence as Arrow has it; a map is a list of pairs there."""
    if row and isinstance(row[0], list) and row[0] and isinstance(row[0][0], tuple):
        return [dict(item) for item in row]
    return row


# ---- the file of a model, on the driver ---------------------------------------------------------------------------

_folder: Any = None  # kept until the driver ends, since executors that join later fetch from it
_shipped: dict[tuple[str, str], str] = {}  # {(application, digest): name}


def _ship(context: Any, model: Model | str | os.PathLike[str]) -> str:
    """Gives a model to all executors, once in an application; the name of its file there."""
    global _folder
    if isinstance(model, Model):
        data = model.to_bytes()
    else:
        Model.open(model)  # what is no model is an error here, not in an executor
        with open(model, "rb") as file:
            data = file.read()
    digest = hashlib.sha256(data).hexdigest()
    key = context.applicationId, digest
    if key not in _shipped:
        if _folder is None:
            _folder = tempfile.TemporaryDirectory(prefix="trellis-")
        name = f"trellis-{digest[:16]}.model"
        path = os.path.join(_folder.name, name)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(data)
        context.addFile(path)
        _shipped[key] = name
    return _shipped[key]
