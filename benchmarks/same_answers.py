"""Do an older commit and the files here give the same answers, bit by bit?

    python benchmarks/same_answers.py REVISION

Thirty-two problems (errors of all kinds, labels, missing values, weights, priors, families) are fitted and predicted
by both, in processes of their own; probabilities, out-of-bag answers, importances and the arrays of all trees are
compared.
Exit code 1 if anything differs.
"""

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
_ARRAYS = (
    "feature",
    "threshold",
    "left",
    "right",
    "missing_left",
    "share_left",
    "value",
    "weight",
    "impurity",
    "decrease",
)


def problems() -> Iterator[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Name, parameters, arguments of fit, arguments of predict_proba."""
    random = np.random.default_rng(7)
    n, d = 400, 5
    truth = random.normal(size=(n, d))
    y = (truth[:, 0] + 0.5 * truth[:, 1] ** 2 > 0.3).astype(int) + (truth[:, 2] > 1)
    sigma = random.gamma(1.0, 0.5, (n, d))
    X = truth + sigma * random.normal(size=(n, d))
    holes = np.where(random.random((n, d)) < 0.2, np.nan, X)
    limit = np.where(random.random((n, d)) < 0.1, random.choice([-1, 1], (n, d)), 0)
    draws = X[:, :, None] + sigma[:, :, None] * random.normal(size=(n, d, 12))
    draws[random.random((n, d)) < 0.5] = np.nan
    weight = random.integers(0, 4, n).astype(float)
    confidence = random.uniform(0.5, 1, n)
    pmf = 0.6 * np.eye(3)[y] + 0.4 * random.dirichlet(np.ones(3), n)
    unknown = np.where(random.random((n, d)) < 0.1, np.nan, sigma)
    errors: dict[str, dict[str, Any]] = {
        "exact": {},
        "scalar": {"X_err": 0.3},
        "per feature": {"X_err": sigma.mean(axis=0)},
        "per cell": {"X_err": sigma},
        "asymmetric": {"X_err": (sigma, 2 * sigma)},
        "unknown": {"X_err": unknown},
        "limits": {"X_err": sigma, "X_limit": limit},
        "limits of exact values": {"X_limit": limit},
        "samples": {"X_samples": draws},
        "samples and limits": {"X_err": sigma, "X_samples": draws, "X_limit": limit},
    }
    hard: dict[str, Any] = {"y": y}
    for name, about in errors.items():
        yield name, {}, {"X": X, **hard, **about}, {"X": X[::-1], **{k: _reversed(v) for k, v in about.items()}}
    noisy = {"X": X, **hard, "X_err": sigma}
    query = {"X": X, "X_err": sigma}
    for missing in ("observed", "equal", "learned"):
        yield f"missing {missing}", {"missing": missing}, {**noisy, "X": holes}, {"X": holes, "X_err": sigma}
    for prior in (None, "normal"):
        yield f"prior {prior}", {"prior": prior}, noisy, query
    about_others = X @ (np.eye(d) + 0.5)  # features that say something about each other
    related = {"X": np.where(random.random((n, d)) < 0.1, np.nan, about_others), "X_err": sigma}
    yield "prior joint", {"prior": "joint"}, {**noisy, "X": about_others}, {**query, "X": about_others}
    yield "prior joint, missing values", {"prior": "joint"}, {**hard, **related}, related
    for family in ("uniform", "laplace", ("student_t", 5.0)):
        yield f"family {family}", {"distribution": family}, noisy, query
    positive = {"X": np.exp(X), "X_err": 0.2 * np.exp(X)}
    yield "log-normal", {"distribution": {1: "lognormal"}}, {**positive, **hard}, positive
    yield "confidence", {}, {**noisy, "y_proba": confidence}, query
    yield "probabilities", {}, {"X": X, "X_err": sigma, "y_proba": pmf, "classes": [0, 1, 2]}, query
    yield "the paper's labels", {"label_information": False}, {**noisy, "y_proba": confidence}, query
    yield "weights", {}, {**noisy, "sample_weight": weight}, query
    yield "balanced", {"class_weight": "balanced_subsample"}, noisy, query
    yield "entropy", {"criterion": "entropy"}, noisy, query
    yield "majority", {"voting": "majority", "keep_proba": 0.0}, noisy, query
    yield "one path", {"keep_proba": 1.0}, noisy, query
    yield "all values", {"max_bins": 65_535, "max_features": None, "bootstrap": False}, noisy, query
    yield "shallow", {"max_depth": 3, "min_samples_leaf": 5, "min_impurity_decrease": 1e-3}, noisy, query
    yield "few bins", {"max_bins": 8, "min_weight_fraction_leaf": 0.01, "unknown_error": "exact"}, noisy, query


def _reversed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_reversed(side) for side in value)
    return value[::-1] if np.ndim(value) >= 2 else value


def answer(out: Path) -> None:
    """Fit and predict with the package that is imported; write all arrays to a file."""
    from probforest import ProbabilisticRandomForestClassifier

    arrays = {}
    for name, parameters, training, query in problems():
        out_of_bag = {} if parameters.get("bootstrap") is False else {"oob_score": True}
        forest = ProbabilisticRandomForestClassifier(12, random_state=0, **{**out_of_bag, **parameters})
        arrays[f"{name}: probabilities"] = forest.fit(**training).predict_proba(**query)
        arrays[f"{name}: importances"] = forest.feature_importances_
        if out_of_bag:
            arrays[f"{name}: out of bag"] = forest.oob_decision_function_
        for field in _ARRAYS:
            arrays[f"{name}: {field}"] = np.concatenate([getattr(tree, field) for tree in forest.trees_])
    np.savez(out, **arrays)


def answers_of(source: Path, out: Path) -> dict[str, np.ndarray]:
    environment = os.environ | {"PYTHONPATH": str(source)}
    subprocess.run([sys.executable, __file__, "--answer", str(out)], env=environment, check=True)
    with np.load(out) as file:
        return dict(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", help="an older commit")
    parser.add_argument("--answer", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer is not None:
        answer(options.answer)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = ["git", "-C", str(ROOT), "archive", options.revision, "src"]
        archive = subprocess.run(command, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        old, new = answers_of(folder / "src", folder / "old.npz"), answers_of(ROOT / "src", folder / "new.npz")
    different = [key for key in old if not np.array_equal(old[key], new.get(key), equal_nan=True)]
    for key in different:
        print(f"DIFFERENT: {key}")
    n_problems = len({key.split(": ")[0] for key in old})
    n_nodes = sum(len(old[key]) for key in old if key.endswith(": feature"))
    print(f"{n_problems} problems, {len(old)} arrays, {n_nodes:,} nodes: {len(different)} arrays differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
