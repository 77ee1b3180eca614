"""How much surer answers would be if values were known better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from . import figures
from .importances import Importances

_WORTH_SAYING = 0.02  # bits
_WORTH_SAYING_OF_VARIANCE = 0.02  # of the variance as it is


class Measurement(NamedTuple):
    """A measurement that is worth making: which object, which feature, and what it is expected to gain."""

    row: int
    name: str
    gain: float


@dataclass(frozen=True, eq=False)
class BetterMeasurements(ABC):
    """What better measurements are expected to bring, for n objects and each of d features on its own."""

    gain: np.ndarray  # (n, d) how much less doubtful the answer would be if one value were known better
    names: list[str]  # (d) of features
    factor: float  # of the errors; 0: the value would be known exactly

    gain_label: ClassVar[str]  # what `gain` is, with its unit

    def __repr__(self) -> str:
        n_objects, n_features = self.gain.shape
        return f"<{type(self).__name__} of {n_features} features for {n_objects} objects, errors × {self.factor:g}>"

    @property
    @abstractmethod
    def doubt(self) -> np.ndarray:
        """How doubtful the answers are as they are, (n,); no gain is expected to be larger."""

    @property
    @abstractmethod
    def least_gain(self) -> np.ndarray:
        """The smallest gain that is worth a word, (n,)."""

    @abstractmethod
    def error_importances(self) -> Importances:
        """What the errors of each feature cost, over all objects."""

    @abstractmethod
    def effect(self, row: int, j: int) -> str:
        """What knowing feature `j` better would do to the answer for an object, in a few words.

        Parameters
        ----------
        row : int
            Which object.
        j : int
            Which feature.

        Returns
        -------
        str
            Such as "0.66 would become 0.83".
        """

    @abstractmethod
    def text(self, row: int) -> str:
        """What limits the answer for one object, in words."""

    def limiting(self, row: int) -> int | None:
        """The feature whose error limits the answer for an object most.

        Parameters
        ----------
        row : int
            Which object.

        Returns
        -------
        int or None
            Its place in `names`; None if there is hardly anything to gain.
        """
        j = int(self.gain[row].argmax())
        return j if self.gain[row, j] >= self.least_gain[row] and self.gain[row, j] > 0 else None

    def brief(self, row: int) -> str:
        """What limits the answer for one object, in one line.

        Parameters
        ----------
        row : int
            Which object.

        Returns
        -------
        str
            Such as "mag2: if it were exact, 0.66 would become 0.83"; empty if there is hardly anything to gain.
        """
        j = self.limiting(row)
        known = "exact" if self.factor == 0 else f"known with {self.factor:g} x its error"
        return "" if j is None else f"{self.names[j]}: if it were {known}, {self.effect(row, j)}"

    def ranking(self, most: int = 10, *, each_object_once: bool = False) -> list[Measurement]:
        """The measurements that are worth most, over all objects.

        Parameters
        ----------
        most : int, default=10
            How many.
        each_object_once : bool, default=False
            Whether to list only the best measurement of every object.

        Returns
        -------
        list of Measurement
            Tuples (row, name, gain), the largest gains first.
        """
        gain = self.gain
        if each_object_once:
            best = gain.argmax(axis=1)[:, None]
            gain = np.where(np.arange(gain.shape[1]) == best, gain, -np.inf)
        order = np.argsort(-gain, axis=None, kind="stable")[:most]
        rows, features = np.unravel_index(order, gain.shape)
        found = zip(rows.tolist(), features.tolist(), strict=True)
        return [Measurement(i, self.names[j], float(gain[i, j])) for i, j in found if gain[i, j] > -np.inf]

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
        return figures.bars(ax, bars, self.gain_label)

    def _known(self) -> str:
        return "exactly" if self.factor == 0 else f"with {self.factor:g} × its error"


@dataclass(frozen=True, eq=False, repr=False)
class MeasurementValue(BetterMeasurements):
    """What better measurements are expected to bring to answers that are classes.

    Entropies are in bits: 0 for a certain answer, 1 for two equally probable classes. Answers are those with
    hardly any pruning (`keep_proba` of 0.002 at most), and differ a little from `predict_proba`.

    Attributes
    ----------
    gain : ndarray of shape (n_samples, n_features)
        Expected gain of information in bits, if one value were known better.
    names : list of str
        Names of the features.
    factor : float
        Factor of the errors; 0: the value would be known exactly.
    entropy : ndarray of shape (n_samples,)
        Entropies of the answers as they are.
    top_probability : ndarray of shape (n_samples,)
        Probability of the most probable class, as it is.
    expected_top_probability : ndarray of shape (n_samples, n_features)
        What it is expected to be, if one value were known better.
    change : ndarray of shape (n_samples, n_features)
        The probability that another class would be the most probable one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> value = tree.value_of_measurement(X[70:80], X_err=0.3)
    >>> value.gain.shape
    (10, 4)
    >>> value.ranking(1)[0].name  # the petal length or width of one of them
    'x3'
    """

    entropy: np.ndarray
    top_probability: np.ndarray
    expected_top_probability: np.ndarray
    change: np.ndarray

    gain_label = "expected gain of information [bits]"

    @property
    def doubt(self) -> np.ndarray:
        """The entropies."""
        return self.entropy

    @property
    def least_gain(self) -> np.ndarray:
        """The smallest gain of information that is worth a word, (n,)."""
        return np.full(len(self.entropy), _WORTH_SAYING)

    def error_importances(self) -> Importances:
        """What the errors of each feature cost: the accuracy that is expected to be gained without them.

        It is the mean gain of the top probability over the objects, which should be those of a typical table.

        Returns
        -------
        Importances
            Gains of accuracy with their standard errors, the largest first.
        """
        gains = self.expected_top_probability - self.top_probability[:, None]
        return _mean_over_objects(self.names, gains, "expected gain of accuracy without its errors")

    def effect(self, row: int, j: int) -> str:
        """The top probability as it is, and as it is expected if feature `j` were known better.

        Parameters
        ----------
        row : int
            Which object.
        j : int
            Which feature.

        Returns
        -------
        str
            Such as "0.66 would become 0.83".
        """
        return f"{self.top_probability[row]:.2f} would become {self.expected_top_probability[row, j]:.2f}"

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
        now, j = float(self.top_probability[row]), self.limiting(row)
        if j is None:
            return f"No single error limits this answer ({now:.2f} for its most probable class)."
        return (
            f"{self.names[j]} limits this answer most. If it were known {self._known()}, the most probable class would "
            f"be expected at {self.expected_top_probability[row, j]:.2f} instead of {now:.2f}, and be another one with "
            f"a probability of {self.change[row, j]:.2f}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class NumberMeasurementValue(BetterMeasurements):
    """What better measurements are expected to bring to answers that are numbers: `gain` is the expected loss of
    variance.

    Answers are those with hardly any pruning (`keep_proba` of 0.002 at most) and before calibration, and differ a
    little from `predict_distribution`.

    Attributes
    ----------
    gain : ndarray of shape (n_samples, n_features)
        Expected loss of variance, if one value were known better.
    names : list of str
        Names of the features.
    factor : float
        Factor of the errors; 0: the value would be known exactly.
    std : ndarray of shape (n_samples,)
        Standard deviation of every target, as it is.
    expected_std : ndarray of shape (n_samples, n_features)
        Root of the expected variance, if one value were known better.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeRegressor
    >>> X, _ = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeRegressor(max_depth=3, error_scale=1.0).fit(X[:, :3], X[:, 3], X_err=0.1)
    >>> value = tree.value_of_measurement(X[:5, :3], X_err=0.3)
    >>> value.gain.shape, bool((value.expected_std <= value.std[:, None] + 0.1).all())
    ((5, 3), True)
    """

    std: np.ndarray

    gain_label = "expected loss of variance"

    @property
    def expected_std(self) -> np.ndarray:
        """Root of the expected variance if one value were known better, (n, d)."""
        return np.sqrt(np.maximum(self.std[:, None] ** 2 - self.gain, 0.0))

    @property
    def doubt(self) -> np.ndarray:
        """The variances."""
        return self.std**2

    @property
    def least_gain(self) -> np.ndarray:
        """The smallest loss of variance that is worth a word, (n,)."""
        return _WORTH_SAYING_OF_VARIANCE * self.doubt

    def error_importances(self) -> Importances:
        """What the errors of each feature cost: the mean squared error that is expected to be lost without them.

        It is the mean loss of variance over the objects, which should be those of a typical table.

        Returns
        -------
        Importances
            Losses of variance with their standard errors, the largest first.
        """
        return _mean_over_objects(self.names, self.gain, "expected loss of variance without its errors")

    def effect(self, row: int, j: int) -> str:
        """The standard deviation as it is, and as it is expected if feature `j` were known better.

        Parameters
        ----------
        row : int
            Which object.
        j : int
            Which feature.

        Returns
        -------
        str
            Such as "a standard deviation of 0.12 would become 0.08".
        """
        return f"a standard deviation of {self.std[row]:.3g} would become {self.expected_std[row, j]:.3g}"

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
        now, j = f"± {self.std[row]:.3g}", self.limiting(row)
        if j is None:
            return f"No single error limits this answer ({now})."
        return (
            f"{self.names[j]} limits this answer most. If it were known {self._known()}, the target would be expected "
            f"to be known to ± {self.expected_std[row, j]:.3g} instead of {now}."
        )


def _mean_over_objects(names: list[str], gains: np.ndarray, quantity: str) -> Importances:
    """Means of gains (n, d), with standard errors."""
    return Importances.of(names, gains.mean(axis=0), quantity, gains.std(axis=0) / np.sqrt(len(gains)))
