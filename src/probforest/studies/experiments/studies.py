"""Which contenders meet on which cases: one function per experiment, each yielding rows of the results."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss

from .cases import Case, missing_cells, noisy_features, noisy_labels
from .contenders import FEATURES, LABELS, MISSING, Contender, Setting, forest, full_prf

Row = dict[str, Any]
LABEL_KINDS = {"paper": ("uniform", "upper", "constant", "clean"), "authors": ("authors",)}


@dataclass(frozen=True)
class Plan:
    """The options of the command."""

    seeds: int = 3
    trees: tuple[int, ...] = (1, 10, 25, 50)
    n_jobs: int | None = 1
    recipe: str = "paper"
    quick: bool = False
    contenders: tuple[str, ...] = ()  # their names; all, if there is none

    @property
    def n_train(self) -> int:
        return 1000 if self.quick else 5000

    def levels(self, all_levels: Sequence[float]) -> Sequence[float]:
        """All levels, or the first, the middle and the last when it has to be quick."""
        if not self.quick:
            return all_levels
        return [all_levels[0], all_levels[len(all_levels) // 2], all_levels[-1]]

    def chosen(self, contenders: Mapping[str, Contender]) -> Mapping[str, Contender]:
        """Those that take part."""
        return {name: each for name, each in contenders.items() if not self.contenders or name in self.contenders}

    def setting(self, seed: int, **options: Any) -> Setting:
        return Setting(self.trees, seed, self.n_jobs, options)


def meet(case: Case, contenders: Mapping[str, Contender], setting: Setting, **about: Any) -> Iterator[Row]:
    """Rows of all contenders on a case; `about` goes into each."""
    for name, contender in contenders.items():
        start = time.perf_counter()
        answers = contender(case, setting)
        seconds = time.perf_counter() - start
        for n_trees, probability in answers.items():
            yield {
                **about,
                "seed": setting.seed,
                "contender": name,
                "trees": n_trees,
                "accuracy": accuracy_score(case.y_test, probability > 0.5),
                "log_loss": log_loss(case.y_test, np.clip(probability, 1e-6, 1 - 1e-6)),
                "seconds": seconds,
            }


def feature_study(experiment: str, plan: Plan) -> Iterator[Row]:
    """Experiments (ii), (iii), (iv): accuracy against the noise."""
    authors_transfer = plan.recipe == "authors" and experiment == "transfer"
    levels = (0, 1, 2, 4, 6, 8, 10) if authors_transfer else (0, 0.5, 1, 2, 3, 5)
    for level in plan.levels(levels):
        for seed in range(plan.seeds):
            case = noisy_features(plan.n_train, level, experiment, plan.recipe, seed)
            about = {"noise": experiment, "level": level, "mean_noise": case.mean_noise}
            yield from meet(case, plan.chosen(FEATURES), plan.setting(seed), **about)


def labels(plan: Plan) -> Iterator[Row]:
    """Experiment (i): accuracy against the share of wrong labels."""
    for kind in LABEL_KINDS[plan.recipe]:
        for wrong in plan.levels((0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)):
            for seed in range(plan.seeds):
                case = noisy_labels(plan.n_train, wrong, kind, plan.recipe, seed)
                yield from meet(case, plan.chosen(LABELS), plan.setting(seed), noise=kind, level=wrong)


def objects(plan: Plan) -> Iterator[Row]:
    """Experiment (ii): errors per object × feature."""
    return feature_study("objects", plan)


def groups(plan: Plan) -> Iterator[Row]:
    """Experiment (iii): groups of objects with different noisy features."""
    return feature_study("groups", plan)


def transfer(plan: Plan) -> Iterator[Row]:
    """Experiment (iv): different noisy features in the training and in the test set."""
    return feature_study("transfer", plan)


def complexity(plan: Plan) -> Iterator[Row]:
    """The more complex the noise, the more its errors say: four cases at a few levels."""
    names = "forest", "full PRF", "PRF, no prior", "boosted PRF", "gradient boosting", "forest, errors as columns"
    chosen = {name: FEATURES[name] for name in names}
    for noise in ("constant", "objects", "groups", "cells"):
        for level in plan.levels((0.5, 1, 2, 4)):
            for seed in range(plan.seeds):
                case = noisy_features(plan.n_train, level, noise, plan.recipe, seed)
                yield from meet(case, plan.chosen(chosen), plan.setting(seed), noise=noise, level=level)


def missing(plan: Plan) -> Iterator[Row]:
    """Cells removed at random."""
    for share in plan.levels((0.05, 0.2, 0.5)):
        for seed in range(plan.seeds):
            case = missing_cells(plan.n_train, share, plan.recipe, seed)
            yield from meet(case, plan.chosen(MISSING), plan.setting(seed), noise="missing", level=share)


def threshold(plan: Plan) -> Iterator[Row]:
    """Accuracy against keep_proba."""
    for keep_proba in plan.levels((0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)):
        for level in (1, 3):
            for seed in range(plan.seeds):
                case = noisy_features(plan.n_train, level, "objects", plan.recipe, seed)
                setting = plan.setting(seed, keep_proba=keep_proba)
                about = {"noise": "objects", "noise_level": level, "level": keep_proba}
                yield from meet(case, {f"PRF, N_s = {level}": full_prf}, setting, **about)


def runtime(plan: Plan) -> Iterator[Row]:
    """Seconds of fit and prediction against the number of objects."""
    most = max(plan.trees)
    for n_train in (500, 1000, 2000) if plan.quick else (500, 1000, 2000, 5000, 10_000, 20_000):
        for seed in range(plan.seeds):
            case = noisy_features(int(n_train), 1, "objects", plan.recipe, seed)
            setting = Setting((most,), seed, plan.n_jobs)
            yield from meet(case, {"forest": forest}, setting, noise="objects", level=n_train)
            for keep_proba in (0.01, 0.05, 0.5):
                setting = Setting((most,), seed, plan.n_jobs, {"keep_proba": keep_proba})
                name = f"PRF, keep_proba = {keep_proba}"
                yield from meet(case, {name: full_prf}, setting, noise="objects", level=n_train)


STUDIES = {
    "labels": labels,
    "objects": objects,
    "groups": groups,
    "transfer": transfer,
    "complexity": complexity,
    "missing": missing,
    "threshold": threshold,
    "runtime": runtime,
}
