"""A NumberEvaluation in words and tables, for a terminal and for a web page."""

from collections.abc import Sequence

from .number_scores import FAR_OUT, NumberEvaluation
from .tables import Headline, Table

_TOLERANCE = 0.03  # of a coverage: a smaller difference is not worth a word


def number_text(evaluation: NumberEvaluation) -> list[str]:
    """An evaluation as lines for a terminal."""
    lines = [
        f"objects              {evaluation.n_objects:,}",
        f"root mean square     {evaluation.rmse:.5g}",
        f"mean absolute error  {evaluation.mean_absolute_error:.5g}",
        f"mean error           {evaluation.mean_error:+.3g}",
        f"robust scatter       {evaluation.nmad:.5g}",
        f"outliers             {evaluation.outliers:.2%} (beyond {FAR_OUT} robust scatters)",
        f"R²                   {evaluation.r2:.4f}",
    ]
    if evaluation.crps is not None:
        lines.append(f"CRPS                 {evaluation.crps:.5g}")
    if evaluation.cde_loss is not None:
        lines.append(f"CDE loss             {evaluation.cde_loss:.5g}")
    for p, share in (evaluation.coverage or {}).items():
        lines.append(f"{float(p):.0%} intervals        contain {share:.1%} of the targets")
    if evaluation.pit_quartiles is not None:
        shown = ", ".join(f"{value:.2f}" for value in evaluation.pit_quartiles)
        lines.append(f"quartiles of F(true) {shown} (0.25, 0.50, 0.75 if the distributions are right)")
    if evaluation.redshift is not None:
        lines.append(f"redshifts, errors divided by 1 + z: {_redshift_text(evaluation.redshift)}")
    if evaluation.by_error_size is not None:
        lines.append("by size of the errors (1: the median error of the training)")
        lines += [
            f"  size {group['size']:8.3g}  root mean square {group['rmse']:.5g}  ({group['n_objects']:,} objects)"
            for group in evaluation.by_error_size
        ]
    return lines


def _redshift_text(scores: dict[str, float]) -> str:
    return (
        f"scatter (NMAD) {scores['sigma_nmad']:.5f}, bias {scores['bias']:+.5f}, outliers > "
        f"{scores['outlier_threshold']:g} {scores['outlier_rate']:.2%}"
    )


def number_headlines(evaluation: NumberEvaluation) -> list[Headline]:
    """The main scores."""
    found = [
        Headline("Root mean square error", f"{evaluation.rmse:.4g}", f"R² = {evaluation.r2:.4f}; 1 is perfect"),
        Headline("Robust scatter", f"{evaluation.nmad:.4g}", "1.4826 × the median absolute deviation of the errors"),
        Headline("Mean error", f"{evaluation.mean_error:+.2g}", "predicted − true; 0 is best"),
        Headline("Outliers", f"{evaluation.outliers:.2%}", f"beyond {FAR_OUT} robust scatters; 0.27 % if normal"),
    ]
    if evaluation.crps is not None:
        note = f"absolute error of a single number: {evaluation.mean_absolute_error:.4g}"
        found.append(Headline("CRPS", f"{evaluation.crps:.4g}", note))
    for p, share in (evaluation.coverage or {}).items():
        found.append(Headline(f"{float(p):.0%} intervals", f"{share:.1%}", "share of the targets that they contain"))
    if evaluation.redshift is not None:
        scores = evaluation.redshift
        found += [
            Headline("σ (NMAD) of Δz / (1 + z)", f"{scores['sigma_nmad']:.5f}", f"bias {scores['bias']:+.5f}"),
            Headline("Redshift outliers", f"{scores['outlier_rate']:.2%}", f"beyond {scores['outlier_threshold']:g}"),
        ]
    return found


def number_findings(evaluation: NumberEvaluation) -> list[str]:
    """What stands out, in sentences."""
    found = [_bias(evaluation)]
    for p, share in (evaluation.coverage or {}).items():
        found.append(_width(float(p), share))
    groups = evaluation.by_error_size
    if groups:
        found.append(_effect_of_errors(groups))
    return found


def _bias(evaluation: NumberEvaluation) -> str:
    error = 2 * evaluation.rmse / evaluation.n_objects**0.5
    if abs(evaluation.mean_error) <= error:
        return "There is no bias: the mean error is as small as chance makes it."
    side = "large" if evaluation.mean_error > 0 else "small"
    return f"Predictions are too {side} by {abs(evaluation.mean_error):.2g} on average."


def _width(p: float, share: float) -> str:
    contain = f"{p:.0%} intervals contain {share:.1%} of the targets"
    if abs(share - p) <= _TOLERANCE:
        return f"{contain}, as they should."
    what = "narrow: errors are larger than the model says" if share < p else "wide: the model is too modest"
    return f"{contain}: they are too {what}."


def _effect_of_errors(groups: Sequence[dict[str, float]]) -> str:
    best, worst = groups[0], groups[-1]
    return (
        f"Objects with errors around {worst['size']:.2g} times the median of the training set have a root mean square "
        f"error of {worst['rmse']:.3g}; those around {best['size']:.2g} times, {best['rmse']:.3g}."
    )


def number_size_table(evaluation: NumberEvaluation) -> Table:
    """Scores by the size of the errors."""
    groups = evaluation.by_error_size or []
    names = {"size": "size of the errors", "n_objects": "objects", "rmse": "error", "expected_rmse": "expected"}
    keys = [*names, *(key for key in (groups[0] if groups else {}) if key.startswith("coverage_"))]
    keys = [key for key in keys if groups and key in groups[0]]
    heads = [names.get(key) or f"{float(key.removeprefix('coverage_')):.0%} intervals contain" for key in keys]
    rows = [[_cell(key, group[key]) for key in keys] for group in groups]
    return Table(heads, rows)


def _cell(key: str, value: float) -> str:
    if key == "n_objects":
        return f"{value:,}"
    return f"{value:.1%}" if key.startswith("coverage_") else f"{value:.3g}"
