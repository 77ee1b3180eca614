"""How good predicted numbers and distributions are: all scores in one place, and as text."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..metrics import bias, outlier_rate, sigma_nmad

REDSHIFT_OUTLIER = 0.05
INTERVALS = (0.68, 0.95)
_GROUPS = 4  # of objects with errors of about the same size
_NORMAL = 1.4826


@dataclass(frozen=True)
class NumberEvaluation:
    """Scores of predictions of numbers."""

    n_objects: int
    rmse: float  # root of the mean squared error
    mean_absolute_error: float
    mean_error: float  # predicted − true
    nmad: float  # robust scatter of the errors
    r2: float
    crps: float | None = None  # those of distributions
    coverage: dict[str, float] | None = None  # by the probability of the interval
    pit_quartiles: list[float] | None = None  # 0.25, 0.5, 0.75 if distributions are right
    by_error_size: list[dict[str, float]] | None = None  # groups of objects: size, rmse and number
    redshift: dict[str, float] | None = None  # with errors divided by 1 + z

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def evaluate_numbers(
    truth: np.ndarray,
    predicted: np.ndarray,
    *,
    crps: np.ndarray | None = None,
    pit: np.ndarray | None = None,
    intervals: dict[float, np.ndarray] | None = None,
    error_size: np.ndarray | None = None,
    is_redshift: bool = False,
) -> NumberEvaluation:
    """Compare true and predicted numbers (n,). Of distributions, `crps` and `pit` (n,) and the `intervals` (n, 2) by
    their probability; `error_size` (n,) of every object, NaN if it is not known."""
    errors = predicted - truth
    spread = np.square(truth - truth.mean()).sum()
    return NumberEvaluation(
        n_objects=len(truth),
        rmse=float(np.sqrt(np.square(errors).mean())),
        mean_absolute_error=float(np.abs(errors).mean()),
        mean_error=float(errors.mean()),
        nmad=float(_NORMAL * np.median(np.abs(errors - np.median(errors)))),
        r2=float(1 - np.square(errors).sum() / spread) if spread > 0 else float("nan"),
        crps=None if crps is None else float(crps.mean()),
        coverage=None if intervals is None else {f"{p:g}": _share(truth, each) for p, each in intervals.items()},
        pit_quartiles=None if pit is None else np.quantile(pit, [0.25, 0.5, 0.75]).tolist(),
        by_error_size=None if error_size is None else _by_error_size(errors, error_size),
        redshift=_redshift(truth, predicted) if is_redshift and (truth > -1).all() else None,
    )


def _share(truth: np.ndarray, interval: np.ndarray) -> float:
    return float(((interval[:, 0] <= truth) & (truth <= interval[:, 1])).mean())


def _redshift(truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    return {
        "sigma_nmad": sigma_nmad(truth, predicted),
        "bias": bias(truth, predicted),
        "outlier_threshold": REDSHIFT_OUTLIER,
        "outlier_rate": outlier_rate(truth, predicted, REDSHIFT_OUTLIER),
    }


def _by_error_size(errors: np.ndarray, size: np.ndarray) -> list[dict[str, float]] | None:
    known = np.flatnonzero(~np.isnan(size))
    if len(known) < _GROUPS:
        return None
    groups = np.array_split(known[np.argsort(size[known], kind="stable")], _GROUPS)
    return [
        {
            "size": float(np.median(size[rows])),
            "rmse": float(np.sqrt(np.square(errors[rows]).mean())),
            "n_objects": len(rows),
        }
        for rows in groups
    ]


def number_text(evaluation: NumberEvaluation) -> list[str]:
    """An evaluation as lines for a terminal."""
    lines = [
        f"objects              {evaluation.n_objects:,}",
        f"root mean square     {evaluation.rmse:.5g}",
        f"mean absolute error  {evaluation.mean_absolute_error:.5g}",
        f"mean error           {evaluation.mean_error:+.3g}",
        f"robust scatter       {evaluation.nmad:.5g}",
        f"R²                   {evaluation.r2:.4f}",
    ]
    if evaluation.crps is not None:
        lines.append(f"CRPS                 {evaluation.crps:.5g}")
    for p, share in (evaluation.coverage or {}).items():
        lines.append(f"{float(p):.0%} intervals        contain {share:.1%} of the targets")
    if evaluation.pit_quartiles is not None:
        shown = ", ".join(f"{value:.2f}" for value in evaluation.pit_quartiles)
        lines.append(f"quartiles of F(true) {shown} (0.25, 0.50, 0.75 if the distributions are right)")
    if evaluation.redshift is not None:
        scores = evaluation.redshift
        lines += [
            f"redshifts, errors divided by 1 + z: scatter (NMAD) {scores['sigma_nmad']:.5f}, "
            f"bias {scores['bias']:+.5f}, outliers > {scores['outlier_threshold']:g} {scores['outlier_rate']:.2%}"
        ]
    if evaluation.by_error_size is not None:
        lines.append("by size of the errors (1: the median error of the training)")
        lines += [
            f"  size {group['size']:8.3g}  root mean square {group['rmse']:.5g}  ({group['n_objects']:,} objects)"
            for group in evaluation.by_error_size
        ]
    return lines
