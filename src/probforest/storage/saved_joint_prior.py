"""The joint prior of a model as JSON and arrays, and back. The arrays of all groups lie one group after the other."""

from itertools import pairwise
from typing import Any

import numpy as np

from ..features.joint_prior import FeatureGroup, JointPrior
from ..kernels.layout import Mixture
from .model_file import Arrays

_ROUNDING = 1e-6  # of a sum of shares
_LARGEST = 1e6  # of a mean or covariance of normal scores, which are of order 1
_LEAST_EIGENVALUE = 1e-6  # a learnt one is at least a thousand times as large

Json = dict[str, Any]


def joint_prior_to_json(joint: JointPrior | None) -> Json | None:
    """What is no array."""
    if joint is None:
        return None
    groups = [list(group.mixture.mean.shape) for group in joint.groups]
    return {"groups": groups, "completed": joint.completed.tolist()}


def joint_prior_to_arrays(joint: JointPrior | None) -> Arrays:
    """The arrays; none if there is no joint prior."""
    if joint is None:
        return {}
    mixtures = [group.mixture for group in joint.groups]
    return {
        "joint_features": np.concatenate([np.empty(0, dtype=np.int64), *(group.features for group in joint.groups)]),
        "joint_shares": np.concatenate([np.empty(0), *(mixture.share for mixture in mixtures)]),
        "joint_means": np.concatenate([np.empty(0), *(mixture.mean.ravel() for mixture in mixtures)]),
        "joint_covariances": np.concatenate([np.empty(0), *(mixture.covariance.ravel() for mixture in mixtures)]),
    }


def joint_prior_from(data: Any, arrays: Arrays, has_prior: np.ndarray) -> JointPrior | None:
    """A joint prior for features of which some have a free-form prior, `has_prior` (d,); a ValueError if it is none."""
    if data is None:
        return None
    completed, shapes = data["completed"], data["groups"]
    if len(completed) != len(has_prior) or not all(type(each) is bool for each in completed):
        raise ValueError("the joint prior has not a rule for the holes of each feature")
    counts = [count for shape in shapes for count in shape]
    if not all(len(shape) == 2 for shape in shapes) or not all(type(each) is int and each > 0 for each in counts):
        raise ValueError("the groups of the joint prior are no pairs of numbers")
    features = _apart(arrays["joint_features"], [d for _, d in shapes])
    share = _apart(arrays["joint_shares"], [k for k, _ in shapes])
    mean = _apart(arrays["joint_means"], [k * d for k, d in shapes])
    covariance = _apart(arrays["joint_covariances"], [k * d * d for k, d in shapes])
    _check_features(arrays["joint_features"], features, has_prior)
    groups = []
    for n, (k, d) in enumerate(shapes):
        mixture = Mixture(share[n], mean[n].reshape(k, d), covariance[n].reshape(k, d, d))
        _check_mixture(mixture)
        groups.append(FeatureGroup(features[n], mixture))
    return JointPrior(tuple(groups), np.array(completed, dtype=bool))


def _apart(array: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    if sum(sizes) != len(array):
        raise ValueError("the groups of the joint prior are not as large as its arrays")
    ends = np.cumsum([0, *sizes]).tolist()
    return [array[first:last] for first, last in pairwise(ends)]


def _check_features(together: np.ndarray, groups: list[np.ndarray], has_prior: np.ndarray) -> None:
    """Each feature is in one group at most, and has a prior of its own."""
    known = ((together >= 0) & (together < len(has_prior))).all() and has_prior[together].all()
    if not known or len(np.unique(together)) != len(together) or not all((np.diff(each) > 0).all() for each in groups):
        raise ValueError("the groups of the joint prior are not made of features that have a prior")


def _check_mixture(mixture: Mixture) -> None:
    share, mean, covariance = mixture
    is_distribution = (share > 0).all() and abs(share.sum() - 1) <= _ROUNDING
    is_bounded = (np.abs(mean) <= _LARGEST).all() and (np.abs(covariance) <= _LARGEST).all()  # False for NaN
    if not is_distribution or not is_bounded or not np.array_equal(covariance, covariance.transpose(0, 2, 1)):
        raise ValueError("the joint prior is not a distribution")
    if not (np.linalg.eigvalsh(covariance) >= _LEAST_EIGENVALUE).all():
        raise ValueError("a covariance of the joint prior is not positive definite")
