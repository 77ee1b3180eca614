"""What is measured: the data, and one function per line of the table."""

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes


@dataclass
class Result:
    """One line of the table. `value` is what the target is about: a ratio, an exponent, seconds."""

    name: str
    value: float
    target: str
    ours: float | None = None  # seconds, or megabytes
    theirs: float | None = None
    accuracy: float | None = None
    accuracy_theirs: float | None = None
    log_loss: float | None = None
    log_loss_theirs: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Data:
    """A training and a test set; `extra` is what only probforest takes."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    extra: dict[str, Any]
    extra_test: dict[str, Any]


def noisy_data(n_train: int, level: float, n_test: int = 5000) -> Data:
    """The paper's data with errors per object × feature; without errors for a level of 0."""
    X, y = make_two_classes(n_train + n_test, random_state=0)
    train, test = slice(0, n_train), slice(n_train, None)
    if level == 0:
        return Data(X[train], y[train], X[test], y[test], {}, {})
    noisy = add_noise(X, level, random_state=0)
    errors = {"X_err": noisy.X_err[train]}, {"X_err": noisy.X_err[test]}
    return Data(noisy.X[train], y[train], noisy.X[test], y[test], *errors)


def soft_data(n_train: int, n_test: int = 5000) -> Data:
    """Eight classes, 30 features, errors, and a soft label on every object; scikit-learn gets the likeliest class."""
    X, y = make_classification(n_train + n_test, 30, n_informative=15, n_classes=8, random_state=0)
    noisy = add_noise(X, 1, random_state=0)
    random = np.random.default_rng(0)
    pmf = 0.7 * np.eye(8)[y[:n_train]] + 0.3 * random.dirichlet(np.ones(8), n_train)
    likeliest = pmf.argmax(axis=1)
    extra = {"X_err": noisy.X_err[:n_train], "y_proba": pmf, "classes": range(8)}
    return Data(noisy.X[:n_train], likeliest, noisy.X[n_train:], y[n_train:], extra, {"X_err": noisy.X_err[n_train:]})


def forests(n_trees: int, n_jobs: int = 1):
    options = {"n_estimators": n_trees, "n_jobs": n_jobs, "random_state": 0}
    return ProbabilisticRandomForestClassifier(**options), RandomForestClassifier(**options)


def seconds(function: Callable[[], Any]) -> float:
    gc.collect()
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best_of_each(first: Callable, second: Callable, repeats: int) -> tuple[float, float]:
    """Best time of two functions that take turns."""
    times = [(seconds(first), seconds(second)) for _ in range(repeats)]
    return min(a for a, _ in times), min(b for _, b in times)


def with_accuracy(result: Result, ours, theirs, data: Data) -> Result:
    found = ours.predict_proba(data.X_test, **data.extra_test), theirs.predict_proba(data.X_test)
    result.accuracy, result.accuracy_theirs = (float(np.mean(each.argmax(axis=1) == data.y_test)) for each in found)
    result.log_loss, result.log_loss_theirs = (log_loss(data.y_test, each) for each in found)
    return result


def fit(name: str, target: str, data: Data, n_trees: int, repeats: int) -> Result:
    ours, theirs = forests(n_trees)
    a, b = best_of_each(lambda: ours.fit(data.X, data.y, **data.extra), lambda: theirs.fit(data.X, data.y), repeats)
    return with_accuracy(Result(name, a / b, target, a, b), ours, theirs, data)


def predict(name: str, target: str, data: Data, n_trees: int, repeats: int) -> Result:
    """Asks for the training objects: there are enough of them."""
    ours, theirs = forests(n_trees)
    ours.fit(data.X, data.y, **data.extra)
    theirs.fit(data.X, data.y)
    a, b = best_of_each(lambda: ours.predict_proba(data.X, **data.extra), lambda: theirs.predict_proba(data.X), repeats)
    return with_accuracy(Result(name, a / b, target, a, b), ours, theirs, data)


def predict_one(name: str, target: str, data: Data, n_trees: int, repeats: int) -> Result:
    """One object at a time, as in a notebook or a service."""
    ours, theirs = forests(n_trees)
    ours.fit(data.X, data.y, **data.extra)
    theirs.fit(data.X, data.y)
    one, errors = data.X_test[:1], {name: values[:1] for name, values in data.extra_test.items()}
    a, b = best_of_each(lambda: ours.predict_proba(one, **errors), lambda: theirs.predict_proba(one), repeats)
    return with_accuracy(Result(name, a / b, target, a, b), ours, theirs, data)


def growth(sizes: list[int], target: str, n_trees: int, repeats: int) -> Result:
    """Exponent of the fit time with the number of objects, over the whole range."""
    times = []
    for n in sizes:
        data = noisy_data(n, 1)
        ours, _ = forests(n_trees)
        times.append(min(seconds(lambda: ours.fit(data.X, data.y, **data.extra)) for _ in range(repeats)))  # noqa: B023
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return Result(f"growth: exponent of fit time, {sizes[0]:,} to {sizes[-1]:,}", exponent, target, times[-1])


def threads(target: str, data: Data, n_trees: int, repeats: int) -> list[Result]:
    """Speed-up of two threads over one."""
    one, two = forests(n_trees, 1)[0], forests(n_trees, 2)[0]
    fit_one, fit_two = best_of_each(
        lambda: one.fit(data.X, data.y, **data.extra), lambda: two.fit(data.X, data.y, **data.extra), repeats
    )
    ask_one, ask_two = best_of_each(
        lambda: one.predict_proba(data.X, **data.extra), lambda: two.predict_proba(data.X, **data.extra), repeats
    )
    size = f"{len(data.X):,} objects, {n_trees} trees"
    return [
        Result(f"two threads against one, fit, {size}", fit_one / fit_two, target, fit_two),
        Result(f"two threads against one, predict, {size}", ask_one / ask_two, target, ask_two),
    ]


def kinds_of_errors(target: str, n_objects: int, n_trees: int, repeats: int) -> list[Result]:
    """Seconds of other distributions and of priors, in units of those of normal errors without a prior."""
    data = noisy_data(n_objects, 1)
    X, errors = np.exp(data.X / 4), np.exp(data.X / 4) * data.extra["X_err"] / 4  # positive, for the log-normal
    random = np.random.default_rng(0)
    limit = np.where(random.random(X.shape) < 0.1, 1, 0)
    draws = X[:, :, None] + errors[:, :, None] * random.normal(size=(*X.shape, 30))
    kinds: dict[str, tuple[dict, dict]] = {
        "normal": ({}, {"X_err": errors}),
        "asymmetric": ({}, {"X_err": (errors, 1.5 * errors)}),
        **{
            name: ({"distribution": family}, {"X_err": errors})
            for name, family in (
                ("uniform", "uniform"),
                ("Laplace", "laplace"),
                ("Student t", ("student_t", 4)),
                ("log-normal", "lognormal"),
            )
        },
        "10 % limits": ({}, {"X_err": errors, "X_limit": limit}),
        "30 draws": ({}, {"X_samples": draws}),
        "normal prior": ({"prior": "normal"}, {"X_err": errors}),
        "empirical prior": ({"prior": "empirical"}, {"X_err": errors}),
    }
    models = {
        name: ProbabilisticRandomForestClassifier(n_trees, random_state=0, **{"prior": None, **options})
        for name, (options, _) in kinds.items()
    }
    fits, asks = {name: [] for name in kinds}, {name: [] for name in kinds}
    for _ in range(repeats):
        for name, (_, about) in kinds.items():
            fits[name].append(seconds(lambda: models[name].fit(X, data.y, **about)))  # noqa: B023
            asks[name].append(seconds(lambda: models[name].predict_proba(X, **about)))  # noqa: B023
    return [
        Result(
            f"{name} errors against normal, {what}", min(times[name]) / min(times["normal"]), target, min(times[name])
        )
        for name in kinds
        for what, times in (("fit", fits), ("predict", asks))
        if name != "normal"
    ]


MEMORY = """
import json, resource, sys
import numpy as np
sys.path[:0] = {path!r}
from cases import forests, noisy_data
small = noisy_data(200, 1)
forests(2)[0].fit(small.X, small.y, **small.extra)
data = noisy_data({n}, 1, 10)
arrays = [np.ascontiguousarray(a) for a in (data.X, data.extra["X_err"])]
y = data.y.copy()
del data
# Watched while it runs: the peak that the system keeps is that of making the data.
now = lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
before = now()
import threading, time
highest, done = [before], []
def watch():
    while not done:
        highest.append(max(highest[-1], now())); time.sleep(0.002)
thread = threading.Thread(target=watch); thread.start()
forest = forests(10)[0].fit(arrays[0], y, X_err=arrays[1])
done.append(1); thread.join()
print(json.dumps([highest[-1] - before, sum(a.nbytes for a in arrays) / 2**20]))
"""


def run_python(code: str, cache: str | None = None) -> tuple[str, float]:
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout, time.perf_counter() - start


def memory(n: int, target: str) -> Result:
    """Peak resident memory of a fit above what was there before it, in units of the input arrays (Linux)."""
    printed, _ = run_python(MEMORY.format(path=[str(Path(__file__).parent)], n=n))
    above, arrays = json.loads(printed)
    return Result(
        f"peak memory of fit above the input arrays, {n:,} × 15, × input", above / arrays, target, above, arrays
    )


FIRST = """
import numpy as np
from probforest import ProbabilisticRandomForestClassifier
random = np.random.default_rng(0)
X, y = random.normal(size=(500, 5)), random.integers(0, 2, 500)
ProbabilisticRandomForestClassifier().fit(X, y, X_err=0.1)
"""


def start_up(target: str) -> list[Result]:
    """Commands that do no work."""
    results = []
    for words in (["--help"], ["--version"], ["train", "nothing.csv", "--no-such-option"]):
        command = [sys.executable, "-m", "probforest", *words]
        times = [seconds(lambda: subprocess.run(command, capture_output=True, check=False)) for _ in range(3)]  # noqa: B023
        results.append(Result(f"probforest {' '.join(words)}, s", min(times), target, min(times)))
    return results


def first_contact(target_empty: str, target_warm: str) -> list[Result]:
    """A whole process: import and first fit of 500 × 5, 100 trees."""
    with tempfile.TemporaryDirectory() as cache:
        _, empty = run_python(FIRST, cache)
        warm = min(run_python(FIRST, cache)[1] for _ in range(3))
    return [
        Result("import + first fit, empty cache, s", empty, target_empty, empty),
        Result("import + first fit, warm cache, s", warm, target_warm, warm),
    ]
