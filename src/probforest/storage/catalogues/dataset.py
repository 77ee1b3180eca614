"""A dataset of pyarrow, opened by the user, as a catalogue."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .catalogue import rows_of_a_chunk
from .columnar import ColumnarCatalogue


def is_dataset(thing: Any) -> bool:
    """Whether something is a `pyarrow.dataset.Dataset`.

    >>> is_dataset("stars.parquet")
    False
    """
    return hasattr(thing, "to_batches") and hasattr(thing, "count_rows") and hasattr(thing, "schema")


class DatasetCatalogue(ColumnarCatalogue):
    """A `pyarrow.dataset.Dataset`: Parquet, Arrow and other files wherever pyarrow finds them, in its order."""

    def __init__(self, dataset: Any):
        import pyarrow

        path = Path("dataset")
        super().__init__(path, "dataset", path, None)
        self._arrow, self._dataset = pyarrow, dataset
        self._read_schema(dataset.schema)

    def close(self) -> None:
        """It is the user's."""

    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        columns = [*numbers, *others]
        options = {"columns": self._with_masks(columns), "batch_size": rows_of_a_chunk(len(columns))}
        for batch in self._dataset.to_batches(**options, use_threads=False):
            yield self._unmasked(self._arrow.Table.from_batches([batch]), columns)
