"""How much surer answers would be if values were known better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import figures

_WORTH_SAYING = 0.02  # bits


@dataclass(frozen=True, eq=False)
class MeasurementValue:
    """What better measurements are expected to bring, for n objects and each of d features on its own.

    Entropies are in bits: 0 for a certain answer, 1 for two equally probable classes. Answers are those with
    hardly any pruning (`keep_proba` of 0.002 at most), and differ a little from `predict_proba`.
    """

    entropy: np.ndarray  # (n,) of the answers as they are
    gain: np.ndarray  # (n, d) what it is expected to lose if one value were known better
    top_probability: np.ndarray  # (n,) of the most probable class, as it is
    expected_top_probability: np.ndarray  # (n, d) if one value were known better
    change: np.ndarray  # (n, d) the probability that another class would be the most probable one
    names: list[str]  # (d) of features
    factor: float  # of the errors; 0: the value would be known exactly

    def __repr__(self) -> str:
        n_objects, n_features = self.change.shape
        return f"<MeasurementValue of {n_features} features for {n_objects} objects, errors × {self.factor:g}>"

    def ranking(self, most: int = 10) -> list[tuple[int, str, float]]:
        """The measurements that are worth most, over all objects.

        Parameters
        ----------
        most : int, default=10
            How many.

        Returns
        -------
        list of (row, name, gain in bits)
            The largest gains first.
        """
        order = np.argsort(-self.gain, axis=None, kind="stable")[:most]
        rows, features = np.unravel_index(order, self.gain.shape)
        return [(int(i), self.names[j], float(self.gain[i, j])) for i, j in zip(rows, features, strict=True)]

    def error_importances(self) -> list[tuple[str, float, float]]:
        """What the errors of each feature cost: the accuracy that is expected to be gained without them.

        It is the mean gain of the top probability over the objects, which should be those of a typical table.

        Returns
        -------
        list of (name, gain of accuracy, its standard error)
            The largest first.
        """
        gains = self.expected_top_probability - self.top_probability[:, None]
        mean, error = gains.mean(axis=0), gains.std(axis=0) / np.sqrt(len(gains))
        order = np.argsort(-mean, kind="stable")
        return [(self.names[j], float(mean[j]), float(error[j])) for j in order]

    def text(self, row: int) -> str:
        """What limits the answer for one object, in words.

        Parameters
        ----------
        row : int
            Which object.

        Returns
        -------
        str
            One sentence or two.
        """
        gain, now = self.gain[row], float(self.top_probability[row])
        j = int(gain.argmax())
        if gain[j] < _WORTH_SAYING:
            return f"No single error limits this answer ({now:.2f} for its most probable class)."
        known = "exactly" if self.factor == 0 else f"with {self.factor:g} × its error"
        return (
            f"{self.names[j]} limits this answer most. If it were known {known}, the most probable class would be "
            f"expected at {self.expected_top_probability[row, j]:.2f} instead of {now:.2f}, and be another one with a "
            f"probability of {self.change[row, j]:.2f}."
        )

    def plot(self, row: int, most: int = 8, ax: Any = None) -> Any:
        """Draw what each measurement would bring for one object.

        Parameters
        ----------
        row : int
            Which object.
        most : int, default=8
            How many features are drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
            With the figure. Needs matplotlib (`pip install "probforest[plots]"`).
        """
        order = np.argsort(-self.gain[row], kind="stable")[:most]
        bars = [(self.names[j], float(self.gain[row, j])) for j in order]
        return figures.bars(ax, bars, "expected gain of information [bits]")
