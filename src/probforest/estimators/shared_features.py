"""Forests that are grown apart, on the same features: what a fit takes over from another model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..features.feature_model import FeatureModel

# What a model has chosen before its trees are grown. Which of these there are depends on what it predicts.
CHOICES = (
    "n_features_in_",
    "feature_names_in_",
    "feature_model_",
    "classes_",
    "missing_",
    "prior_",
    "prior_trial_",
    "error_scale_",
    "error_trial_",
    "target_scatter_",
    "slopes_",
    "slope_scales_",
)


class SharedFeatures:
    """A fit that keeps the features, and all other choices, of an earlier one. Not for use on its own."""

    feature_model_: FeatureModel  # set by fit
    max_bins: int
    _takes_over: bool = False  # whether the fit under way has its features from another model

    @property
    def _adds_trees(self) -> bool:
        """Whether a fit keeps the trees of the last one."""
        return False

    @property
    def _keeps_choices(self) -> bool:
        """Whether a fit keeps the choices of an earlier one: of its own trees, or of another model."""
        return self._adds_trees or self._takes_over

    @property
    def _keeper(self) -> str:
        """What keeps them, for messages."""
        return "feature_model" if self._takes_over else "warm_start=True"

    @contextmanager
    def _with_features_of(self, model: Any) -> Iterator[None]:
        """What is fitted in this context has the features of another model; None: features of its own."""
        if model is None:
            yield
            return
        self._check_donor(model)
        for name in CHOICES:
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
            else:
                self.__dict__.pop(name, None)  # of an earlier fit
        self._takes_over = True
        try:
            yield
        finally:
            del self._takes_over

    def _check_donor(self, model: Any) -> None:
        """A model to take features from: fitted, and on the same kind of target."""
        if not isinstance(model, SharedFeatures):
            raise ValueError(f"feature_model must be a fitted model of probforest; got {type(model).__name__}.")
        if is_classifier(model) != is_classifier(self):
            raise ValueError(
                f"feature_model must predict {'classes' if is_classifier(self) else 'numbers'}, as this model does; "
                f"got {type(model).__name__}."
            )
        check_is_fitted(model)
        if self._adds_trees:
            raise ValueError("feature_model and warm_start=True: the old trees have features. Give one of both.")

    def _check_bins(self) -> None:
        """Codes of bins must have room for those of the other model."""
        most = max(len(bins.low) for bins in self.feature_model_.shared_bins)
        if most > self.max_bins:
            raise ValueError(f"max_bins is {self.max_bins}, but feature_model has features with {most} bins.")
