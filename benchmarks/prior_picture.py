"""Draw what becomes of the values of an object: docs/figures/priors.svg.

    python benchmarks/prior_picture.py --out docs/figures

The data are those of the example in docs/priors.md.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from probforest import ProbabilisticRandomForestClassifier
from probforest.evaluation.drawing import as_svg, new_figure

COLOURS = ("#999999", "#0072B2", "#D55E00")


def example() -> dict[str, np.ndarray]:
    """Five features of each object that depend on one hidden number, with errors and holes."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(2000, 1))
    truth = np.exp(0.5 * hidden) + 0.2 * random.normal(size=(2000, 5))
    X_err = random.gamma(1, 0.7, truth.shape)
    X = random.normal(truth, X_err)
    X[random.random(X.shape) < 0.2] = np.nan
    return {"truth": truth, "X": X, "X_err": X_err, "y": (hidden[:, 0] > 0).astype(int)}


def chosen_object(data: dict[str, np.ndarray]) -> int:
    """The first object of the test set with large values, a hole, and a value that is off by more than 1.5."""
    one_hole = np.isnan(data["X"]).sum(axis=1) == 1
    off = np.nan_to_num(np.abs(data["X"] - data["truth"])).max(axis=1) > 1.5
    large = data["truth"].mean(axis=1) > 2
    return int(np.flatnonzero(one_hole & off & large & (np.arange(2000) >= 1000))[0])


def cells_of(data: dict[str, np.ndarray], i: int) -> dict[str, np.ndarray]:
    """Centre, lower and upper error of the features of object i, (3, 5), as measured and with each prior."""
    train, errors = slice(0, 1000), data["X_err"][i]
    found = {"measured": np.stack([data["X"][i], errors, errors])}
    for name, prior in (("given its own distribution", "empirical"), ("given the other features, too", "joint")):
        forest = ProbabilisticRandomForestClassifier(2, prior=prior, random_state=0)
        forest.fit(data["X"][train], data["y"][train], X_err=data["X_err"][train])
        found[name] = np.stack(forest.posterior(data["X"][[i]], X_err=data["X_err"][[i]]))[:, 0]
    return found


def draw(data: dict[str, np.ndarray]) -> Figure:
    i = chosen_object(data)
    found = cells_of(data, i)
    with new_figure(3.0) as figure:
        ax = figure.subplots()
        for place, (name, (center, lower, upper)) in enumerate(found.items()):
            x = np.arange(5) + 0.2 * (place - 1)
            ax.errorbar(x, center, (lower, upper), fmt="o", color=COLOURS[place], label=name, capsize=2)
        for j, value in enumerate(data["truth"][i]):
            ax.hlines(value, j - 0.35, j + 0.35, "black", "dashed", linewidth=1, label="true value" if j == 0 else None)
        missing = np.flatnonzero(np.isnan(data["X"][i]))
        names = [f"feature {j}" + ("\nnot measured" if j in missing else "") for j in range(5)]
        ax.set_xticks(range(5), names)
        ax.set_ylabel("value and error")
        ax.legend(loc="best")
    return figure


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "priors.svg"
    path.write_text(as_svg(draw(example())), encoding="utf-8")
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
