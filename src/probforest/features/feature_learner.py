"""Learns what the recipe of a FeatureModel needs, from the training set as it is at each step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .feature_bins import FeatureBins, learn_bins
from .joint_prior import JointPrior, learn_joint_prior
from .limits import TrainingSpread
from .measurements import Measurements
from .mixture_fit import MODERATE, QUICK, THOROUGH, Effort
from .noisier_objects import NoisierObjects
from .prior import Prior, learn_priors, sample_of

# Which of d features have holes that say something, (d,) bool, from which values are missing, (n, d) bool.
FindTellingHoles = Callable[[np.ndarray], np.ndarray]


@dataclass
class FeatureLearner:
    """Learns what the recipe needs, and keeps it."""

    weight: np.ndarray
    medians: np.ndarray
    prior: str | None
    max_bins: int
    n_jobs: int | None
    error_scale: float
    telling_holes: FindTellingHoles | None
    quick: bool
    known_priors: Sequence[Prior | None] | None
    others: Measurements | None  # objects without labels, that priors are learnt from, too
    for_noisier: bool
    priors: list[Prior | None] = field(init=False)
    joint: JointPrior | None = field(init=False, default=None)
    noisier: NoisierObjects | None = field(init=False, default=None)
    bins: list[FeatureBins] = field(init=False)

    def medians_for(self, measurements: Measurements) -> np.ndarray:
        return self.medians

    def priors_for(self, measurements: Measurements) -> list[Prior | None]:
        if self.known_priors is not None:
            self.priors = list(self.known_priors)
        else:
            table, weight = self._with_others(measurements)
            self.priors = learn_priors(self.prior, table, weight, self.n_jobs)
        return self.priors

    def joint_prior_for(self, measurements: Measurements) -> JointPrior | None:
        if self.prior == "joint":
            self.joint = self._learn_joint_prior(measurements, self.priors, QUICK if self.quick else THOROUGH)
        elif self.for_noisier:
            self.noisier = self._learn_about_noisier(measurements)
        return self.joint

    def _learn_joint_prior(
        self, measurements: Measurements, priors: Sequence[Prior | None], effort: Effort
    ) -> JointPrior:
        find, missing = self.telling_holes, np.isnan(measurements.center.T)
        completed = np.ones(len(priors), dtype=bool) if find is None else ~find(missing)
        table, weight = self._with_others(measurements)
        return learn_joint_prior(priors, table, weight, completed, self.n_jobs, effort)

    def _learn_about_noisier(self, measurements: Measurements) -> NoisierObjects | None:
        """None: no feature says anything about another one. All fits pay for it, though few tables have such objects:
        the effort is moderate."""
        priors = self.priors
        if self.prior != "empirical":
            priors = learn_priors("empirical", *self._with_others(measurements), self.n_jobs)
        joint = self._learn_joint_prior(measurements, priors, MODERATE)
        return NoisierObjects(tuple(priors), joint) if joint.groups else None

    def measured_worse(self, measurements: Measurements) -> None:
        return None  # than itself

    def _with_others(self, measurements: Measurements) -> tuple[Measurements, np.ndarray]:
        """What priors are learnt from: the training set, and objects without labels, which have its mean weight."""
        others = self.others
        if others is None:
            return measurements, self.weight
        mean = self.weight[self.weight > 0].mean()
        sample = sample_of(np.concatenate([self.weight, np.full(others.n_objects, mean)]), THOROUGH.n_objects)
        own, of_others = sample[sample < len(self.weight)], sample[sample >= len(self.weight)] - len(self.weight)
        weight = np.concatenate([self.weight[own], np.full(len(of_others), mean)])
        return measurements.rows(own).followed_by(others.rows(of_others)), weight

    def spreads_for(self, measurements: Measurements) -> list[TrainingSpread]:
        self.bins = learn_bins(measurements, self.weight, self.max_bins, self.n_jobs, quick=self.quick)
        return [bins.spread for bins in self.bins]
