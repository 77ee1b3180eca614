"""The joint prior: what the other features of an object say about a value that is badly measured, or missing.

True values, as normal scores, come from a mixture of normal distributions in as many dimensions as there are features.
Each cell with an error, and each hole, becomes the posterior of its true value given all that was measured of the
object. Exact values, limits and samples stay as they are, but others learn from them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..families import one_sigma_grid
from ..kernels.layout import Mixture
from ..kernels.mixture import posteriors
from ..kernels.scores import move_cells
from ..support.threads import in_threads, shares_of_threads
from .feature_groups import groups_of_features
from .measurements import Measurements
from .mixture_fit import THOROUGH, Effort, NoisyPoints, fit_mixture
from .prior import EmpiricalPrior, Prior, have_two_sides, sample_of, with_priors
from .scored_cells import NormalScores, Sites, scored_cells, sites_of

# The cells of an object depend on each other, but trees take them as independent, and so spread an object over
# combinations of values that it can't have. Cells that are narrower by this power of what the others say were better on
# all tables (docs/priors.md), and an error about which the others say nothing stays as it is.
NARROWING = 2.0
_PIECE = 4096  # objects at a time, at most


@dataclass(frozen=True, eq=False)
class FeatureGroup:
    """Features whose true values, as normal scores, come from one mixture."""

    features: np.ndarray  # (g,) int64, increasing
    mixture: Mixture


@dataclass(frozen=True, eq=False)
class JointPrior:
    """What the d features of a table say about each other."""

    groups: tuple[FeatureGroup, ...]  # features of different groups say nothing about each other
    completed: np.ndarray  # (d,) bool, the features whose holes become distributions


def learn_joint_prior(
    priors: Sequence[Prior | None],
    measurements: Measurements,
    weight: np.ndarray,
    completed: np.ndarray,
    n_jobs: int | None = None,
    effort: Effort = THOROUGH,
) -> JointPrior:
    """Learn from a training set, as it was measured; `priors` are those of its features."""
    sample = sample_of(weight, effort.n_objects)
    table, scales = with_posteriors(priors, None, measurements.rows(sample), n_jobs), _scales(priors)

    def site(j: int) -> Sites:
        return sites_of(scored_cells(scales[j], table, j))

    sites = dict(zip(scales, in_threads(site, list(scales), n_jobs), strict=True))
    groups = []
    for features in groups_of_features(sites, weight[sample]):
        points = _points([sites[j] for j in features.tolist()], weight[sample])
        mixture = fit_mixture(points, effort, n_jobs)
        if mixture is not None:
            groups.append(FeatureGroup(features, mixture))
    return JointPrior(tuple(groups), completed)


def with_posteriors(
    priors: Sequence[Prior | None],
    joint: JointPrior | None,
    measurements: Measurements,
    n_jobs: int | None = None,
    narrowing: float = NARROWING,
) -> Measurements:
    """The posteriors of all cells with errors under the `priors` of their features and, if there is one, the `joint`
    prior, which also fills holes. With a `narrowing` of 1, joint posteriors have the widths of posteriors, otherwise
    those that are best for trees."""
    groups = () if joint is None else joint.groups
    if not groups and (measurements.is_exact or not any(priors) or not have_two_sides(priors, measurements)):
        return with_priors(priors, measurements)
    scales, completed = _scales(priors), np.empty(0, dtype=bool) if joint is None else joint.completed
    memory = np.empty((measurements.n_objects, len(priors), 3))
    center, lower, upper = memory.transpose(2, 1, 0)

    def update(piece: slice) -> None:
        own = with_priors(priors, measurements.rows(piece))
        cells: tuple[np.ndarray, ...] = (own.center, own.lower, own.upper)
        if groups:
            exact = np.zeros(own.center.shape)  # exact values have no errors
            cells = tuple(np.array(part if len(part) else exact, order="C") for part in cells)
        for group in groups:
            _move(group, completed, scales, own, narrowing, cells)
        for place, part in enumerate(cells):
            memory[piece, :, place] = part.T

    for _ in in_threads(update, shares_of_threads(measurements.n_objects, _PIECE, n_jobs), n_jobs):
        pass
    return replace(measurements, center=center, lower=lower, upper=upper, memory=memory)


def _move(
    group: FeatureGroup,
    completed: np.ndarray,
    scales: dict[int, NormalScores],
    part: Measurements,
    narrowing: float,
    to: Sequence[np.ndarray],
) -> None:
    """Write the posteriors of the features of a group into the cells `to`, (d, n) each."""
    features = group.features.tolist()
    cells = [scored_cells(scales[j], part, j) for j in features]
    sites = [sites_of(each) for each in cells]
    points = _points(sites, np.ones(part.n_objects))
    mean, spread = (np.ascontiguousarray(each.T) for each in posteriors(points.place, points.variance, group.mixture))
    anything_measured = np.isfinite(points.variance).any(axis=1)
    for column, j in enumerate(features):
        changed = cells[column].is_noisy | (cells[column].is_hole & anything_measured & completed[j])
        given_all = mean[column], spread[column], narrowing, changed
        scale, grid = scales[j], one_sigma_grid(part.families[j])
        own = *sites[column], *given_all, scale.edges, scale.scores, grid
        move_cells(cells[column].quantiles, *own, *(array[j] for array in to))


def _scales(priors: Sequence[Prior | None]) -> dict[int, NormalScores]:
    """Those of the features that have one: constants, and features that were never measured, say nothing."""
    return {j: NormalScores.of(prior) for j, prior in enumerate(priors) if isinstance(prior, EmpiricalPrior)}


def _points(sites: Sequence[Sites], weight: np.ndarray) -> NoisyPoints:
    place, variance = (np.ascontiguousarray(np.transpose(parts)) for parts in zip(*sites, strict=True))
    return NoisyPoints(place, variance, weight)
