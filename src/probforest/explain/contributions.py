"""What each feature adds to an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..support.extras import need
from . import figures


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each feature adds to the answers for n objects: `base` + the sum of `values` over features = `answers`.

    Attributes
    ----------
    base : ndarray of shape (n_classes,)
        The answer before anything is known about an object.
    values : ndarray of shape (n_samples, n_features, n_classes)
        What each feature adds. Regressors have one column instead of classes.
    answers : ndarray of shape (n_samples, n_classes)
        What the model predicts.
    names : list of str
        Names of the features.
    classes : ndarray of shape (n_classes,)
        The classes.
    quantity : str
        What the answers are: "probability", "score" (boosting) or "mean" (of the target).
    errors : ndarray of shape (n_samples, n_features, n_classes) or None
        Standard errors of values that were estimated by sampling.
    data : ndarray of shape (n_samples, n_features) or None
        The measured values, if they are known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> why = tree.contributions(X[:3], X_err=0.1)
    >>> why.values.shape  # objects, features, classes
    (3, 4, 3)
    >>> bool(abs(why.base + why.values.sum(axis=1) - tree.predict_proba(X[:3], X_err=0.1)).max() < 1e-12)
    True
    """

    base: np.ndarray
    values: np.ndarray
    answers: np.ndarray
    names: list[str]
    classes: np.ndarray
    quantity: str = "probability"
    errors: np.ndarray | None = None
    data: np.ndarray | None = None

    def __repr__(self) -> str:
        n_objects, n_features, n_classes = self.values.shape
        return f"<Contributions of {n_features} features to {n_classes} classes for {n_objects} objects>"

    def of(self, row: int, of_class: Any = None) -> list[tuple[str, float]]:
        """The features of one object with what they add to the probability of a class, the largest first.

        Parameters
        ----------
        row : int
            Which object.
        of_class : object, default=None
            One of `classes`; None: the most probable one of the object.

        Returns
        -------
        list of (name, contribution)
            Features that add nothing are left out.
        """
        added = self.values[row, :, self._place(row, of_class)]
        order = np.argsort(-np.abs(added), kind="stable")
        return [(self.names[j], float(added[j])) for j in order if added[j] != 0]

    def text(self, row: int, of_class: Any = None, most: int = 8) -> str:
        """The same in words.

        Parameters
        ----------
        row : int
            Which object.
        of_class : object, default=None
            One of `classes`; None: the most probable one of the object.
        most : int, default=8
            How many features are listed; the others are summed up.

        Returns
        -------
        str
            A few lines.
        """
        place, added = self._place(row, of_class), self.of(row, of_class)
        lines = [self.headline(row, of_class), f"{self._signed(self.base[place])}  on average"]
        lines += [f"{self._signed(number)}  {name}" for name, number in added[:most]]
        if len(added) > most:
            rest = sum(number for _, number in added[most:])
            lines.append(f"{self._signed(rest)}  {len(added) - most} other features")
        return "\n".join(lines)

    def headline(self, row: int, of_class: Any = None) -> str:
        """The answer for one object.

        Parameters
        ----------
        row : int
            Which object.
        of_class : object, default=None
            One of `classes`; None: the most probable one of the object.

        Returns
        -------
        str
            Such as "star: 0.660".
        """
        place = self._place(row, of_class)
        of_what = "" if self.quantity == "probability" else f"{self.quantity} of "
        return f"{of_what}{self.classes[place]}: {self._signed(self.answers[row, place]).removeprefix('+')}"

    def brief(self, row: int, of_class: Any = None, most: int = 3) -> str:
        """The main reasons for the answer in one line.

        Parameters
        ----------
        row : int
            Which object.
        of_class : object, default=None
            One of `classes`; None: the most probable one of the object.
        most : int, default=3
            How many features are listed.

        Returns
        -------
        str
            Such as "mag3 +0.21, mag1 -0.12".
        """
        digits = ".2f" if self.quantity == "probability" else ".2g"
        return ", ".join(f"{name} {number:+{digits}}" for name, number in self.of(row, of_class)[:most])

    def _signed(self, number: float) -> str:
        return f"{number:+.3f}" if self.quantity == "probability" else f"{number:+.4g}"

    def plot(self, row: int, of_class: Any = None, most: int = 8, ax: Any = None) -> Any:
        """Draw the contributions for one object as a waterfall, from the average answer to that of the object.

        Parameters
        ----------
        row : int
            Which object.
        of_class : object, default=None
            One of `classes`; None: the most probable one of the object.
        most : int, default=8
            How many features are drawn; the others are summed up.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
            With the figure. Needs matplotlib (`pip install "probforest[plots]"`).
        """
        place, added = self._place(row, of_class), self.of(row, of_class)
        shown = added[:most]
        if len(added) > most:
            shown = [*shown, (f"{len(added) - most} other features", sum(number for _, number in added[most:]))]
        return figures.waterfall(ax, float(self.base[place]), shown, f"{self.quantity} of {self.classes[place]}")

    def to_table(self, of_class: Any = None) -> Any:
        """All objects as a table, a row each.

        Parameters
        ----------
        of_class : object, default=None
            One of `classes`; None: the most probable one of each object.

        Returns
        -------
        pandas DataFrame
            With the columns "base", one for each feature, and "answer"; without `of_class`, also "class". Needs pandas
            (`pip install "probforest[tables]"`).
        """
        pandas = need("pandas", "A table", "tables")
        rows = np.arange(len(self.answers))
        places = np.array([self._place(row, of_class) for row in range(len(rows))], dtype=np.int64)
        table = pandas.DataFrame(self.values[rows, :, places], columns=self.names)
        table.insert(0, "base", self.base[places], allow_duplicates=True)
        table.insert(len(self.names) + 1, "answer", self.answers[rows, places], allow_duplicates=True)
        if of_class is None:
            table.insert(0, "class", self.classes[places], allow_duplicates=True)
        return table

    def to_shap(self, data: Any = None) -> Any:
        """As shap's plots take it.

        Parameters
        ----------
        data : array-like of shape (n, d), default=None
            Values of the features, for colours and labels; None: the measured values, if they are known.

        Returns
        -------
        shap.Explanation
            Of shape (n, d, k); (n, d) if there is one answer per object. Of one class: `explanation[..., 1]`. Needs
            shap (`pip install "probforest[shap]"`).
        """
        shap = need("shap", "An Explanation", "shap")
        values, base = self.values, np.tile(self.base, (len(self.values), 1))
        errors, outputs = self.errors, [str(name) for name in self.classes.tolist()] or None
        if values.shape[2] == 1:
            values, base, outputs = values[:, :, 0], base[:, 0], None
            errors = None if errors is None else errors[:, :, 0]
        shown = self.data if data is None else np.asarray(data)
        return shap.Explanation(
            values, base, data=shown, feature_names=self.names, output_names=outputs, error_std=errors
        )

    def _place(self, row: int, of_class: Any) -> int:
        """The column of a class."""
        if of_class is None:
            return int(self.answers[row].argmax())
        places = np.flatnonzero(self.classes == of_class)
        if len(places) == 0:
            raise ValueError(f"of_class is {of_class!r}; expected one of {self.classes.tolist()}.")
        return int(places[0])
