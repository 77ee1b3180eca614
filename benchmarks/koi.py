"""Kepler's objects of interest: confirmed planets against false positives, with real errors.

    python benchmarks/koi.py cumulative.csv

takes the cumulative table of the NASA Exoplanet Archive. Ten parameters with their asymmetric errors and holes; 5-fold
accuracies, also with noise added to the test folds only.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from probforest import ProbabilisticRandomForestClassifier

PARAMETERS = ("period", "time0bk", "impact", "duration", "depth", "prad", "insol", "steff", "slogg", "srad")
VALUES = [f"koi_{name}" for name in PARAMETERS]
UPPER, LOWER = [f"{name}_err1" for name in VALUES], [f"{name}_err2" for name in VALUES]
TREES = 100
LEVELS = (0, 0.5, 1, 2)  # largest added error, in units of half the width that holds 68 % of a feature's values


def read(path: Path) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Values and errors, the labels, and the probability that each is right."""
    table = pd.read_csv(path, comment="#")
    table = table[table["koi_disposition"].isin(["CONFIRMED", "FALSE POSITIVE"])].reset_index(drop=True)
    label, score = table["koi_disposition"].to_numpy(), table["koi_score"].to_numpy()
    confidence = np.where(label == "CONFIRMED", score, 1 - score)
    return table[VALUES + UPPER + LOWER], label, np.where(np.isnan(confidence), 1.0, confidence)


def noisier(table: pd.DataFrame, level: float, seed: int) -> pd.DataFrame:
    """The same objects, measured worse: every value with an added error of its own."""
    random = np.random.default_rng(seed)
    values = table[VALUES].to_numpy()
    low, high = np.nanquantile(values, [0.16, 0.84], axis=0)
    added = level * random.uniform(size=values.shape) * (high - low) / 2
    table = table.copy()
    table[VALUES] = values + added * random.normal(size=values.shape)
    table[UPPER] = np.hypot(table[UPPER].to_numpy(), added)
    table[LOWER] = -np.hypot(table[LOWER].to_numpy(), added)
    return table


def contenders(seed: int):
    """Name, classifier, which columns it takes, whether it takes the labels' probabilities."""
    yield "forest, values", RandomForestClassifier(TREES, random_state=seed), VALUES, False
    yield "forest, values and errors", RandomForestClassifier(TREES, random_state=seed), VALUES + UPPER + LOWER, False
    for prior in (None, "normal", "empirical"):
        forest = ProbabilisticRandomForestClassifier(TREES, random_state=seed, error_columns="auto", prior=prior)
        yield f"PRF, prior={prior!r}", forest, VALUES + UPPER + LOWER, False
    forest = ProbabilisticRandomForestClassifier(TREES, random_state=seed, error_columns="auto")
    yield "PRF, label probabilities", forest, VALUES + UPPER + LOWER, True


def accuracies(path: Path) -> dict[tuple[str, float], list[float]]:
    table, label, confidence = read(path)
    found: dict[tuple[str, float], list[float]] = {}
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(table, label)
    for seed, (train, test) in enumerate(folds):
        noisy = {level: noisier(table.iloc[test], level, seed) for level in LEVELS}
        for name, model, columns, takes_labels in contenders(seed):
            options = {"y_proba": confidence[train]} if takes_labels else {}
            model.fit(table.iloc[train][columns], label[train], **options)
            for level in LEVELS:
                score = model.score(noisy[level][columns], label[test])
                found.setdefault((name, level), []).append(score)
    return found


def main() -> int:
    found = accuracies(Path(sys.argv[1]))
    print("| noise added to the test | " + " | ".join(map(str, LEVELS)) + " |")
    print("| --- " * (1 + len(LEVELS)) + "|")
    for name in dict.fromkeys(name for name, _ in found):
        print(f"| {name} | " + " | ".join(f"{np.mean(found[name, level]):.3f}" for level in LEVELS) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
