"""An explainer in shap's manner."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..support.extras import need


class ShapExplainer:
    """Explain the answers of a model of probforest by Shapley values, for shap's plots.

    A value and its errors are one player: together they are those of the object, or those of a background object.

    Parameters
    ----------
    model : fitted model
        Any model of probforest. Of classifiers, probabilities are explained; of regressors, expected targets.
    background : array-like or table of shape (n_samples, n_features)
        Objects that the others are compared with, such as the training set or a part of it.
    X_err, X_limit, X_samples : default=None
        Errors, limits and samples of `background`, as `predict` takes them.
    n_background : int, default=50
        How many objects of `background` are drawn, if it has more.
    n_orders : int, default=1
        Random orders of the features, and their reverses, for each of these.
    random_state : int, RandomState instance or None, default=0
        Seed of what is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticRandomForestClassifier
    >>> from probforest.explain import ShapExplainer
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ProbabilisticRandomForestClassifier(20, random_state=0).fit(X, y, X_err=0.2)
    >>> explainer = ShapExplainer(forest, X, X_err=0.2)
    >>> explainer.shap_values(X[:2], X_err=0.2).shape
    (2, 4, 3)
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        *,
        X_err: Any = None,
        X_limit: Any = None,
        X_samples: Any = None,
        n_background: int = 50,
        n_orders: int = 1,
        random_state: Any = 0,
    ) -> None:
        if not hasattr(model, "shapley_values"):
            raise ValueError(f"model is {model!r}; expected a fitted model of probforest.")
        self.model = model
        self._arguments = {
            "background": background,
            "background_err": X_err,
            "background_limit": X_limit,
            "background_samples": X_samples,
            "n_background": n_background,
            "n_orders": n_orders,
            "random_state": random_state,
        }

    def __call__(self, X: Any, **measured: Any) -> Any:
        """Explain the answers for some objects.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Values.
        **measured
            `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

        Returns
        -------
        shap.Explanation
            Of shape (n_samples, n_features, n_classes); (n_samples, n_features) for regressors. Needs shap
            (`pip install "probforest[shap]"`).
        """
        need("shap", "An Explanation", "shap")  # now rather than after the work
        return self._values(X, measured).to_shap()

    def shap_values(self, X: Any, **measured: Any) -> np.ndarray:
        """Explain the answers for some objects; does not need shap.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Values.
        **measured
            `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

        Returns
        -------
        ndarray of shape (n_samples, n_features, n_classes), or (n_samples, n_features) for regressors
            Shapley values.
        """
        values = self._values(X, measured).values
        return values[:, :, 0] if values.shape[2] == 1 else values

    def _values(self, X: Any, measured: dict[str, Any]) -> Any:
        return self.model.shapley_values(X, **measured, **self._arguments)
