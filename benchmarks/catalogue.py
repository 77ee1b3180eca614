"""`probforest predict` on large tables: memory, and speed beside the call in memory.

    python benchmarks/catalogue.py [--rows 5000000] [--trees 20] [--formats parquet csv]

Makes tables of 15 noisy features with their errors and an identifier, trains a forest on 5,000 rows of the same, and
classifies tables of growing size in processes of their own. Their largest memory is what Linux says of them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import probforest
from probforest.datasets import add_noise, make_two_classes

PIECE = 250_000
N_FEATURES = 15
FEATURES = [f"mag_{j}" for j in range(N_FEATURES)]
ERRORS = [f"e_mag_{j}" for j in range(N_FEATURES)]
MEGABYTE = 1 << 20


def piece_of_table(n_rows: int, first: int, seed: int) -> tuple[pa.Table, np.ndarray]:
    """Rows as a survey would publish them, with five digits, and their classes."""
    truth, label = make_two_classes(n_rows, random_state=seed)
    noisy = add_noise(truth, 1, case="objects", random_state=seed)
    columns = {"id": np.arange(first, first + n_rows)}
    for j in range(N_FEATURES):
        columns[FEATURES[j]] = noisy.X[:, j].round(5)
        columns[ERRORS[j]] = noisy.X_err[:, j].round(5)
    return pa.table(columns), label


def write_table(path: Path, n_rows: int) -> None:
    writer = None
    for first in range(0, n_rows, PIECE):
        table, _ = piece_of_table(min(PIECE, n_rows - first), first, 1)
        if writer is None:
            kind = pa.parquet.ParquetWriter if path.suffix == ".parquet" else pa.csv.CSVWriter
            writer = kind(path, table.schema)
        writer.write_table(table)
    writer.close()


def train(folder: Path, n_trees: int) -> Path:
    table, label = piece_of_table(5000, 0, 1)
    forest = probforest.ProbabilisticRandomForestClassifier(n_trees, error_columns="auto", n_jobs=-1, random_state=0)
    forest.fit(table.drop_columns("id").to_pandas(), label)
    probforest.save(forest, folder / "model.prf")
    return folder / "model.prf"


# getrusage would tell the memory of this process, from which the other one was forked, if that is larger.
WATCHED = """
import sys
from probforest.cli.main import main
code = main(sys.argv[1:])
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1], file=sys.stderr)
sys.exit(code)
"""


def predict(model: Path, table: Path) -> tuple[float, float]:
    """Seconds, and the largest memory in megabytes, of `probforest predict`."""
    output = table.with_name("classes" + table.suffix)
    command = [sys.executable, "-c", WATCHED, "predict", str(model), str(table), "-o", str(output), "--overwrite"]
    start = time.perf_counter()
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, int(run.stderr.split()[-1]) * 1024 / MEGABYTE


IN_MEMORY = """
import json, sys, time, pandas, probforest
model = probforest.load(sys.argv[1]).set_params(n_jobs=-1)
table = pandas.read_parquet(sys.argv[2]).drop(columns="id")
model.predict_proba(table[:1000])
start = time.perf_counter()
model.predict_proba(table)
print(json.dumps(time.perf_counter() - start))
"""


def in_memory(model: Path, table: Path) -> float:
    """Seconds of one call with the whole table, reading not counted."""
    run = [sys.executable, "-c", IN_MEMORY, str(model), str(table)]
    return json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--formats", nargs="+", default=["parquet", "csv"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = train(folder, options.trees)
        print(f"{options.trees} trees, model of {model.stat().st_size / MEGABYTE:.1f} MB")
        reference = folder / "table.parquet"
        write_table(reference, options.rows)
        seconds = in_memory(model, reference)
        speed = options.rows / seconds
        print(f"in memory: {options.rows:,} rows in {seconds:.1f} s, {speed:,.0f} a second")
        print("| format | rows | seconds | rows a second, without start | × in memory | memory above start [MB] |")
        print("| --- | --- | --- | --- | --- | --- |")
        for form in options.formats:
            compare(model, folder / f"table.{form}", options.rows, speed)


def compare(model: Path, table: Path, n_rows: int, speed: float) -> None:
    write_table(table, 1000)
    predict(model, table)  # once for the caches
    start_seconds, start_memory = predict(model, table)
    for rows in (n_rows // 25, n_rows // 5, n_rows):
        write_table(table, rows)
        seconds, memory = predict(model, table)
        streamed = rows / (seconds - start_seconds)
        print(
            f"| {table.suffix[1:]} | {rows:,} | {seconds:.1f} | {streamed:,.0f} | {streamed / speed:.2f} | "
            f"{memory - start_memory:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
