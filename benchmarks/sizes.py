"""Time and memory by the size of a table: docs/speed.md.

    python benchmarks/sizes.py --rows 1000 10000 100000

Each case runs in a process of its own, with one thread; kernels are compiled before. Times are processor times.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

MODELS = {
    "forest": ("ProbabilisticRandomForestClassifier", {}),
    "forest, no prior": ("ProbabilisticRandomForestClassifier", {"prior": None}),
    "forest, no errors": ("ProbabilisticRandomForestClassifier", {}),
    "boosting": ("ProbabilisticGradientBoostingClassifier", {}),
    "forest of numbers": ("ProbabilisticRandomForestRegressor", {}),
}
N_PREDICTED = 10_000


def measure(name: str, rows: int) -> dict[str, float]:
    """Processor seconds of fit, of predictions for 10,000 objects, and the memory above that of the data in MB."""
    import numpy as np

    import probforest
    from probforest.datasets import add_noise, make_two_classes

    truth, classes = make_two_classes(rows + N_PREDICTED, random_state=0)
    X, X_err = add_noise(truth, 1.0, random_state=1)
    target = classes + np.abs(truth[:, 0]) if "numbers" in name else classes
    errors = None if "no errors" in name else X_err
    model_name, parameters = MODELS[name]
    model = getattr(probforest, model_name)(random_state=0, **parameters)

    def given(some: slice) -> dict[str, object]:
        return {} if errors is None else {"X_err": errors[some]}

    few, new = slice(0, 500), slice(rows, None)
    model.fit(X[few], target[few], **given(few)).predict(X[few], **given(few))
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    model.fit(X[:rows], target[:rows], **given(slice(0, rows)))
    fitted = time.process_time()
    model.predict(X[new], **given(new))
    done, after = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"fit": fitted - start, "predict": done - fitted, "memory": (after - before) / 1024}


def in_a_process(name: str, rows: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", name, "--rows", str(rows)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--one", choices=MODELS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(options.one, options.rows[0])))
        return 0
    print("| rows | model | fit [s] | predict 10,000 [s] | memory [MB] |\n| --- | --- | --- | --- | --- |")
    for rows in options.rows:
        for name in MODELS:
            found = in_a_process(name, rows)
            print(f"| {rows:,} | {name} | {found['fit']:.1f} | {found['predict']:.2f} | {found['memory']:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
