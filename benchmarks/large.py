"""Tables that are larger than the memory: time of each pass, memory, and accuracy; and Dask with one and two workers.

    python benchmarks/large.py --rows 1000000 10000000

A table of the paper's kind (two classes, 15 features with errors) is written as a folder of Parquet files, and a forest
is trained on it by `probforest train --memory`, in a process of its own whose memory is watched. Results are printed
and written to `--out`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

FEATURES = 15
ROWS_OF_A_FILE = 250_000
TARGET = "kind"


def block(number, n_rows):
    """Some rows of a table with known classes; a table is the same however many of its rows are used."""
    random = np.random.default_rng([7, number])
    truth = np.random.default_rng(7).normal(0.0, 0.55, (2, FEATURES)) * (np.arange(FEATURES) < 10)
    kind = random.integers(0, 2, n_rows)
    scatter = random.normal(size=(n_rows, FEATURES)) + 0.5 * random.normal(size=(n_rows, 1))
    errors = random.gamma(2.0, 0.5, (n_rows, FEATURES))
    values = truth[kind] + scatter + random.normal(size=(n_rows, FEATURES)) * errors
    return kind, values, errors


def write_table(folder, n_rows, first=0):
    """Rows of the table as Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(-(-n_rows // ROWS_OF_A_FILE)):
        kind, values, errors = block(first + number, min(ROWS_OF_A_FILE, n_rows - number * ROWS_OF_A_FILE))
        columns = {TARGET: pa.array(np.array(["quasar", "star"])[kind])}
        for j in range(FEATURES):
            columns |= {f"mag{j}": values[:, j].astype(np.float32), f"e_mag{j}": errors[:, j].astype(np.float32)}
        parquet.write_table(pa.table(columns), folder / f"{number:05d}.parquet", compression="snappy")


class MemoryWatch(threading.Thread):
    """The largest sum of the memory of a process and its children, in bytes: their own and their share of common
    pages (PSS), which counts no page twice."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.largest, self._over = pid, 0, threading.Event()

    def run(self):
        while not self._over.wait(0.2):
            self.largest = max(self.largest, sum(_proportional(pid) for pid in _family(self.pid)))

    def stop(self):
        self._over.set()
        self.join()
        return self.largest


def _family(pid):
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in _family(int(child)))]


def _proportional(pid):
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:  # it has ended
        return 0
    return 1024 * int(re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[1])


def run(words):
    """Run a command; seconds, CPU seconds, bytes and what it printed."""
    start, before = time.perf_counter(), os.times()
    process = subprocess.Popen([sys.executable, *map(str, words)], stdout=subprocess.PIPE, text=True)
    watch = MemoryWatch(process.pid)
    watch.start()
    printed = process.communicate()[0]
    largest = watch.stop()
    if process.returncode:
        raise SystemExit(f"{words} failed")
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": time.perf_counter() - start, "cpu": used, "bytes": largest, "printed": printed}


def train_words(folder, output, options):
    settings = ["--set", f"n_estimators={options.trees}", f"max_samples={options.draws}", "prior=empirical"]
    limits = ["--memory", options.memory, "--n-jobs", options.n_jobs, "--json"]
    return ["-m", "probforest", "train", folder, "--target", TARGET, *settings, *limits, "-o", output]


def seconds_of_passes(folder, options):
    """CPU seconds of each pass, in this process."""
    from probforest import ProbabilisticRandomForestClassifier
    from probforest.large import fit_tables
    from probforest.support import progress

    found, original = {}, progress.with_progress

    def timed(things, total, label, verbose, **more):
        start = time.process_time()
        yield from original(things, total, label, 0, **more)
        found[label] = found.get(label, 0.0) + time.process_time() - start

    import probforest.estimators.local_passes as passes

    passes.with_progress = timed
    try:
        forest = ProbabilisticRandomForestClassifier(
            options.trees,
            max_samples=options.draws,
            prior="empirical",
            error_columns="auto",
            random_state=0,
            n_jobs=options.n_jobs,
        )
        fit_tables(forest, folder, TARGET, memory=options.memory)
    finally:
        passes.with_progress = original
    return found


def accuracy(model, n_rows=50_000):
    """On rows that are in no table."""
    import pandas as pd

    from probforest import load

    forest = load(model) if isinstance(model, Path) else model
    kind, values, errors = block(10**6, n_rows)
    table = {}
    for j in range(FEATURES):
        table |= {f"mag{j}": values[:, j].astype(np.float32), f"e_mag{j}": errors[:, j].astype(np.float32)}
    return forest.score(pd.DataFrame(table), np.array(["quasar", "star"])[kind])


def in_memory(options):
    """The accuracy of forests in memory on as many rows as each tree draws in the large table."""
    from probforest import ProbabilisticRandomForestClassifier

    found = []
    for seed in range(options.repeats):
        kind, values, errors = block(500_000 + seed, options.draws)
        forest = ProbabilisticRandomForestClassifier(
            options.trees, prior="empirical", random_state=seed, n_jobs=options.n_jobs
        )
        forest.fit(values, kind, X_err=errors)
        kind, values, errors = block(10**6, 50_000)
        found.append(forest.score(values, kind, X_err=errors))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[200_000, 1_000_000])
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--draws", type=int, default=200_000)
    parser.add_argument("--memory", default="4GiB")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="forests in memory")
    parser.add_argument("--passes", action="store_true", help="CPU time of each pass, which takes as long again")
    parser.add_argument("--predict", action="store_true", help="time predictions with one and two Dask workers")
    parser.add_argument("--work", type=Path, help="folder for tables, which are kept (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/large.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        results = [measured(work, n_rows, options) for n_rows in options.rows]
        if options.passes and len(results) > 1:
            results.append(exponents(results[0], results[-1]))
        if options.repeats:
            found = in_memory(options)
            results.append({"in memory": options.draws, "accuracies": found, "accuracy": float(np.mean(found))})
            print(results[-1], flush=True)
        if options.predict:
            results.append(workers_compared(work, options))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1))


def measured(work, n_rows, options):
    folder = work / f"{n_rows}"
    if not folder.is_dir():
        write_table(folder, n_rows)
    model = work / f"{n_rows}.prf"
    found = run([*train_words(folder, model, options), "--overwrite"])
    printed = json.loads(found.pop("printed"))
    found |= {"rows": n_rows, "accuracy": accuracy(model), "temporary": printed["temporary_bytes"]}
    found |= {"out_of_bag": printed["out_of_bag"]["accuracy"], "model_bytes": printed["bytes"]}
    if options.passes:
        found["passes"] = seconds_of_passes(folder, options)
    print(json.dumps(found), flush=True)
    return found


def exponents(small, large):
    """How the CPU seconds of each pass grow with the number of rows: x in rows^x."""
    growth = np.log(large["rows"] / small["rows"])
    found = {
        label: float(np.log(large["passes"][label] / small["passes"][label]) / growth) for label in small["passes"]
    }
    print({"exponents": found}, flush=True)
    return {"exponents": found}


def workers_compared(work, options):
    """Seconds of lazy predictions with one and with two processes."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from probforest import load
    from probforest.dask import predict_proba

    n_rows = min(options.rows)
    forest = load(work / f"{n_rows}.prf").set_params(n_jobs=1)
    found = {}
    for n_workers in (1, 2):
        cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
        with cluster, Client(cluster):
            table = dd.read_parquet(work / f"{n_rows}").drop(columns=TARGET).repartition(npartitions=16).persist()
            len(table)
            predict_proba(forest, table.partitions[:2]).sum().compute()  # compiled kernels are loaded
            start = time.perf_counter()
            predict_proba(forest, table).sum().compute()
            found[n_workers] = time.perf_counter() - start
    result = {"predict, rows": n_rows, "seconds": found, "two workers against one": found[1] / found[2]}
    print(json.dumps(result), flush=True)
    return result


if __name__ == "__main__":
    main()
