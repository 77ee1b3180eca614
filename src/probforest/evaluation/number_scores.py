"""How good predicted numbers and distributions are: all scores in one place."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..metrics import bias, outlier_rate, sigma_nmad

REDSHIFT_OUTLIER = 0.05
INTERVALS = (0.68, 0.95)
FAR_OUT = 3  # robust scatters: what makes an outlier
_GROUPS = 4  # of objects with errors of about the same size
_NORMAL = 1.4826


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """True numbers and what a model said about them, (n,) each."""

    truth: np.ndarray
    predicted: np.ndarray
    std: np.ndarray | None = None  # those of distributions
    crps: np.ndarray | None = None
    cde_loss: np.ndarray | None = None
    pit: np.ndarray | None = None
    intervals: dict[float, np.ndarray] | None = None  # (n, 2) by their probability
    error_size: np.ndarray | None = None  # of the features, NaN if it is not known

    @property
    def errors(self) -> np.ndarray:
        """Predicted − true."""
        return self.predicted - self.truth


@dataclass(frozen=True)
class NumberEvaluation:
    """Scores of predictions of numbers."""

    n_objects: int
    rmse: float  # root of the mean squared error
    mean_absolute_error: float
    mean_error: float  # predicted − true
    nmad: float  # robust scatter of the errors
    outliers: float  # share of the errors beyond FAR_OUT robust scatters
    r2: float
    crps: float | None = None  # those of distributions
    cde_loss: float | None = None
    coverage: dict[str, float] | None = None  # by the probability of the interval
    pit_quartiles: list[float] | None = None  # 0.25, 0.5, 0.75 if distributions are right
    by_error_size: list[dict[str, float]] | None = None  # groups of objects: see `_by_error_size`
    redshift: dict[str, float] | None = None  # with errors divided by 1 + z

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which has no infinity."""
        found = asdict(self)
        loss = found["cde_loss"]
        return found | {"cde_loss": loss if loss is not None and np.isfinite(loss) else None}


def evaluate_numbers(answers: NumberAnswers, *, is_redshift: bool = False) -> NumberEvaluation:
    """Compare true and predicted numbers."""
    truth, errors = answers.truth, answers.errors
    spread = np.square(truth - truth.mean()).sum()
    nmad = _NORMAL * float(np.median(np.abs(errors - np.median(errors))))
    intervals = answers.intervals
    return NumberEvaluation(
        n_objects=len(truth),
        rmse=root_mean_square(errors),
        mean_absolute_error=float(np.abs(errors).mean()),
        mean_error=float(errors.mean()),
        nmad=nmad,
        outliers=float((np.abs(errors - np.median(errors)) > FAR_OUT * nmad).mean()),
        r2=float(1 - np.square(errors).sum() / spread) if spread > 0 else float("nan"),
        crps=None if answers.crps is None else float(answers.crps.mean()),
        cde_loss=None if answers.cde_loss is None else float(answers.cde_loss.mean()),
        coverage=None if intervals is None else {f"{p:g}": _share(truth, each) for p, each in intervals.items()},
        pit_quartiles=None if answers.pit is None else np.quantile(answers.pit, [0.25, 0.5, 0.75]).tolist(),
        by_error_size=None if answers.error_size is None else _by_error_size(answers),
        redshift=_redshift(truth, answers.predicted) if is_redshift and (truth > -1).all() else None,
    )


def root_mean_square(numbers: np.ndarray) -> float:
    """The root of the mean of the squares."""
    return float(np.sqrt(np.square(numbers).mean()))


def _share(truth: np.ndarray, interval: np.ndarray) -> float:
    return float(((interval[:, 0] <= truth) & (truth <= interval[:, 1])).mean())


def _redshift(truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    return {
        "sigma_nmad": sigma_nmad(truth, predicted),
        "bias": bias(truth, predicted),
        "outlier_threshold": REDSHIFT_OUTLIER,
        "outlier_rate": outlier_rate(truth, predicted, REDSHIFT_OUTLIER),
    }


def _by_error_size(answers: NumberAnswers) -> list[dict[str, float]] | None:
    """Groups of objects with errors of about the same size: the median size, the error and what was expected, the
    coverage of intervals, and how many there are."""
    size = answers.error_size
    known = np.flatnonzero(~np.isnan(size)) if size is not None else np.empty(0, dtype=np.int64)
    if size is None or len(known) < _GROUPS:
        return None
    groups = np.array_split(known[np.argsort(size[known], kind="stable")], _GROUPS)
    return [
        {
            "size": float(np.median(size[rows])),
            "rmse": root_mean_square(answers.errors[rows]),
            **({} if answers.std is None else {"expected_rmse": root_mean_square(answers.std[rows])}),
            **{
                f"coverage_{p:g}": _share(answers.truth[rows], each[rows])
                for p, each in (answers.intervals or {}).items()
            },
            "n_objects": len(rows),
        }
        for rows in groups
    ]
