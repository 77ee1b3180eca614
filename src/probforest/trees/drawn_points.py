"""The places at which values with errors take part in a search of splits."""

import numpy as np

from ..kernels.dice import draw_points, first_numbers
from ..kernels.layout import Bins

MANY_BINS = 64  # values that spread over several bins need no more of them
_BELOW, _ABOVE = 2, 4  # grid points one σ below and above the centre
_WELL_MEASURED = 0.25  # the share of values whose errors are smaller than those that merged bins are compared with


class DrawnPoints:
    """The bins of a training set with one grid point of each cell, drawn with its probability, anew every time.

    In a search, a value with an error takes one place instead of seven; objects still move with their exact F. The
    places differ from one iteration to the next, and the trees correct each other. For the same reason bins need not be
    narrower than errors: some neighbours become one, and which ones changes with every iteration. The bins of features
    with small errors stay as they are.
    """

    def __init__(self, bins: Bins):
        self._bins = bins
        n_objects, n_features, n_slots = bins.codes.shape
        self.is_exact = n_slots == 1
        self._codes = np.empty((0 if self.is_exact else n_objects, n_features, 1), dtype=bins.codes.dtype)
        self._shift = np.zeros(n_features, dtype=np.int64) if self.is_exact else _shift(bins)
        self._first_numbers = first_numbers(bins.chunk)
        self._merged: dict[int, Bins] = {}  # by the offset of the feature with most bins

    @property
    def most_bins(self) -> Bins:
        """Bins as large as those of any iteration, for the space that a search needs."""
        return self._bins if self.is_exact else self._merged_by(0)

    def drawn(self, seed: int) -> Bins:
        """The bins for one iteration, valid until the next one; `seed` > 0."""
        if self.is_exact:
            return self._bins
        bins, state = self._bins, np.array([seed], dtype=np.uint64)
        offset = seed % (1 << int(self._shift.max()))
        if offset not in self._merged:
            self._merged[offset] = self._merged_by(offset)
        offsets = offset % (1 << self._shift)
        draw_points(bins.codes, bins.missing_code, self._first_numbers, self._shift, offsets, state, self._codes)
        return self._merged[offset]

    def _merged_by(self, most: int) -> Bins:
        """The bins of which 2^shift are one, in the first one of a feature up to `most` fewer."""
        bins, step = self._bins, (1 << self._shift)[:, None]
        offset = most % step
        last = bins.n_bins[:, None] - 1
        widest = int(((last + step - 1) >> self._shift[:, None]).max()) + 1
        begin = np.arange(widest) * step - offset
        low = np.take_along_axis(bins.low, np.clip(begin, 0, last), axis=1)
        high = np.take_along_axis(bins.high, np.clip(begin + step - 1, 0, last), axis=1)
        n_bins = ((last + offset) >> self._shift[:, None])[:, 0] + 1
        no_words = np.empty((0, len(n_bins)), dtype=np.uint64)
        return bins._replace(codes=self._codes, words=no_words, n_bins=n_bins, low=low, high=high)


def _shift(bins: Bins) -> np.ndarray:
    """2^shift bins of a feature may become one, (d,): not more than there are in the σ of most values, and MANY_BINS
    are left. Values that are measured better than usual are those that splits go by."""
    doubled = (bins.codes[:, :, _ABOVE] - bins.codes[:, :, _BELOW]).T  # 2σ; 0 of a missing cell
    spread = np.sort(doubled, axis=1, kind="stable")[:, int(_WELL_MEASURED * doubled.shape[1])]  # codes are small
    most = np.minimum(spread / 2, np.ceil(bins.n_bins / MANY_BINS))
    return np.log2(np.maximum(most, 1)).astype(np.int64)
