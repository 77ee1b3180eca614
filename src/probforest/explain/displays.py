"""Figures in scikit-learn's manner: what is drawn is kept, and can be drawn again, elsewhere or in another style."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .contributions import Contributions
from .importances import Importances
from .measurement_value import BetterMeasurements


class _Display:
    """What all displays have after `plot`."""

    ax_: Any
    figure_: Any

    def _drawn(self, ax: Any) -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ImportanceDisplay(_Display):
    """Importances of features as bars.

    Parameters
    ----------
    importances : Importances
        What is drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the bars, after `plot`.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticRandomForestClassifier
    >>> from probforest.explain import ImportanceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ProbabilisticRandomForestClassifier(20, random_state=0).fit(X, y, X_err=0.2)
    >>> display = ImportanceDisplay.from_estimator(forest)
    >>> display.ax_.get_xlabel()
    'impurity decrease'
    """

    def __init__(self, importances: Importances) -> None:
        self.importances = importances

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, kind: str = "impurity", most: int = 20, ax: Any = None, **measured: Any
    ) -> Self:
        """Draw importances of the features of a model.

        Parameters
        ----------
        estimator : fitted model
            Any model of probforest.
        X : array-like or table of shape (n_samples, n_features), default=None
            Objects of a typical table; needed for kind="error".
        kind : {"impurity", "error"}, default="impurity"
            "impurity": what each feature contributes to the splits. "error": what the errors of each feature cost, see
            `value_of_measurement`. For permutation importances, see `from_permutation`.
        most : int, default=20
            How many features are drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **measured
            `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

        Returns
        -------
        ImportanceDisplay
            With the figure. Needs matplotlib (`pip install "probforest[plots]"`).
        """
        if kind == "impurity":
            return cls(estimator.importances_).plot(most=most, ax=ax)
        if kind != "error":
            raise ValueError(f'kind is {kind!r}; expected "impurity" or "error".')
        if X is None:
            raise ValueError('kind="error" needs X, a table of objects, and their errors.')
        return cls(estimator.value_of_measurement(X, **measured).error_importances()).plot(most=most, ax=ax)

    @classmethod
    def from_permutation(cls, result: Any, *, names: Any = None, most: int = 20, ax: Any = None) -> Self:
        """Draw permutation importances.

        Parameters
        ----------
        result : Bunch
            What `probforest.importance.permutation_importance` returns, or that of scikit-learn.
        names : sequence of str, default=None
            Names of the features; None: those of the result, or "x0", "x1", ...
        most : int, default=20
            How many features are drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        ImportanceDisplay
            With the figure. Needs matplotlib (`pip install "probforest[plots]"`).
        """
        mean = np.asarray(result.importances_mean)
        if names is None:
            names = getattr(result, "feature_names", [f"x{j}" for j in range(len(mean))])
        importances = Importances.of(names, mean, "loss of score when permuted", result.importances_std)
        return cls(importances).plot(most=most, ax=ax)

    def plot(self, *, most: int = 20, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        most : int, default=20
            How many features are drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        ImportanceDisplay
            The display itself.
        """
        return self._drawn(self.importances.plot(most=most, ax=ax))


class ContributionDisplay(_Display):
    """What each feature adds to the answer for one object, as a waterfall.

    Parameters
    ----------
    contributions : Contributions
        Those of some objects.
    row : int, default=0
        Which of these objects.
    of_class : object, default=None
        Which class; None: the most probable one of the object.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the waterfall, after `plot`.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> from probforest.explain import ContributionDisplay
    >>> display = ContributionDisplay.from_estimator(tree, X, X_err=0.1, row=70)
    >>> display.ax_.get_xlabel() != ""
    True
    """

    def __init__(self, contributions: Contributions, *, row: int = 0, of_class: Any = None) -> None:
        self.contributions, self.row, self.of_class = contributions, row, of_class

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        row: int = 0,
        of_class: Any = None,
        most: int = 8,
        ax: Any = None,
        **measured: Any,
    ) -> Self:
        """Explain the answer of a model for one object.

        Parameters
        ----------
        estimator : fitted model
            Any model of probforest.
        X : array-like or table of shape (n_samples, n_features)
            Objects.
        row : int, default=0
            Which of these objects.
        of_class : object, default=None
            Which class; None: the most probable one of the object.
        most : int, default=8
            How many features are drawn; the others are summed up.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **measured
            `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

        Returns
        -------
        ContributionDisplay
            With the figure. Needs matplotlib (`pip install "probforest[plots]"`).
        """
        found = estimator.contributions(X, **measured)
        return cls(found, row=row, of_class=of_class).plot(most=most, ax=ax)

    def plot(self, *, most: int = 8, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        most : int, default=8
            How many features are drawn; the others are summed up.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        ContributionDisplay
            The display itself.
        """
        return self._drawn(self.contributions.plot(self.row, self.of_class, most, ax))


class MeasurementValueDisplay(_Display):
    """What better measurements would bring for one object, as bars.

    Parameters
    ----------
    value : MeasurementValue or NumberMeasurementValue
        That of some objects.
    row : int, default=0
        Which of these objects.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the bars, after `plot`.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> from probforest.explain import MeasurementValueDisplay
    >>> display = MeasurementValueDisplay.from_estimator(tree, X, X_err=0.1, row=70)
    >>> display.ax_.get_xlabel() != ""
    True
    """

    def __init__(self, value: BetterMeasurements, *, row: int = 0) -> None:
        self.value, self.row = value, row

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        row: int = 0,
        factor: float = 0.0,
        most: int = 8,
        ax: Any = None,
        **measured: Any,
    ) -> Self:
        """Forecast what better measurements would bring for one object.

        Parameters
        ----------
        estimator : fitted model
            Any model of probforest.
        X : array-like or table of shape (n_samples, n_features)
            Objects.
        row : int, default=0
            Which of these objects.
        factor : float in [0, 1], default=0
            How large the errors of the better measurement are, compared with those of today; 0 is an exact value.
        most : int, default=8
            How many features are drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **measured
            `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

        Returns
        -------
        MeasurementValueDisplay
            With the figure. Needs matplotlib (`pip install "probforest[plots]"`).
        """
        found = estimator.value_of_measurement(X, factor=factor, **measured)
        return cls(found, row=row).plot(most=most, ax=ax)

    def plot(self, *, most: int = 8, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        most : int, default=8
            How many features are drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        MeasurementValueDisplay
            The display itself.
        """
        return self._drawn(self.value.plot(self.row, most, ax))
