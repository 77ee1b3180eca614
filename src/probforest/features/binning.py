"""The grid points of the training set as codes of the bins that were learnt from it."""

from collections.abc import Sequence

import numpy as np

from ..families import CHUNK
from ..kernels.encode import encode_column
from ..kernels.layout import CODE_SLOTS, Bins
from ..support.threads import in_threads
from .feature_bins import FeatureBins, rows_of
from .measurements import Measurements


def encode(
    measurements: Measurements,
    bins_of_features: Sequence[FeatureBins],
    max_bins: int,
    kept: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> Bins:
    """The grid points of the objects, only of those where `kept` (n,) is true, as codes. Limits must be spread."""
    n_features = len(bins_of_features)
    n_objects = measurements.n_objects if kept is None else np.count_nonzero(kept)
    dtype = np.uint8 if max_bins <= 255 else np.uint16
    missing_code = np.iinfo(dtype).max
    codes = np.empty((n_objects, n_features, 1 if measurements.is_exact else CODE_SLOTS), dtype=dtype)

    def encode_feature(j: int) -> None:
        column, grid = measurements.column(j), measurements.families[j].grid()
        column = column if kept is None else rows_of(column, kept)
        encode_column(column, grid, bins_of_features[j].edges, missing_code, codes[:, j])

    for _ in in_threads(encode_feature, range(n_features), n_jobs):
        pass
    n_bins = np.array([len(bins.low) for bins in bins_of_features], dtype=np.int64)
    low, high = _padded([bins.low for bins in bins_of_features]), _padded([bins.high for bins in bins_of_features])
    return Bins(codes, _words(codes), n_bins, low, high, missing_code, CHUNK)


def with_codes(bins: Bins, codes: np.ndarray) -> Bins:
    """The same bins with the codes of other objects."""
    return bins._replace(codes=codes, words=_words(codes))


def first_features(bins: Bins, n_features: int) -> Bins:
    """The bins of some features only, as if there were no others."""
    codes, n_bins = np.ascontiguousarray(bins.codes[:, :n_features]), bins.n_bins[:n_features].copy()
    low, high = (np.ascontiguousarray(each[:n_features, : n_bins.max()]) for each in (bins.low, bins.high))
    return bins._replace(codes=codes, words=_words(codes), n_bins=n_bins, low=low, high=high)


def _words(codes: np.ndarray) -> np.ndarray:
    eight_bytes = codes.itemsize * codes.shape[2] == 8
    return codes.view(np.uint64)[:, :, 0] if eight_bytes else np.empty((0, codes.shape[1]), dtype=np.uint64)


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    padded = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return padded
