"""Benchmarks of probforest beside scikit-learn: one command, one table. See README.md beside this file."""

import argparse
import json
import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from cases import (
    Result,
    first_contact,
    fit,
    growth,
    kinds_of_errors,
    memory,
    noisy_data,
    predict,
    predict_one,
    soft_data,
    start_up,
    threads,
)


def quick_results() -> Iterator[Result]:
    """Under a minute; sizes too small for the targets."""
    for level in (0, 1, 3):
        yield fit(f"fit, 5,000 × 15, 20 trees, N_s = {level}", "", noisy_data(5000, level), 20, 3)
    yield fit("fit, 8 classes, soft labels, 3,000 × 30, 10 trees", "", soft_data(3000), 10, 2)
    for level in (0, 1):
        yield predict(f"predict_proba, 10,000 × 15, 10 trees, N_s = {level}", "", noisy_data(10_000, level), 10, 3)
    yield from threads("", noisy_data(5000, 1), 20, 2)
    yield from kinds_of_errors("", 3000, 10, 2)


def all_results() -> Iterator[Result]:
    yield fit("fit, 5,000 × 15, 50 trees, N_s = 0", "", noisy_data(5000, 0), 50, 5)
    yield fit("fit, 5,000 × 15, 50 trees, N_s = 1", "≤ 0.6", noisy_data(5000, 1), 50, 5)
    yield fit("fit, 5,000 × 15, 50 trees, N_s = 3", "", noisy_data(5000, 3), 50, 5)
    yield fit("fit, 50,000 × 15, 10 trees, N_s = 1", "≤ 0.55", noisy_data(50_000, 1), 10, 3)
    yield fit("fit, 300,000 × 15, 10 trees, N_s = 1", "≤ 0.45", noisy_data(300_000, 1), 10, 1)
    yield fit("fit, exact data, 50,000 × 15, 10 trees", "≤ 0.4", noisy_data(50_000, 0), 10, 3)
    yield fit("fit, 8 classes, soft labels, 20,000 × 30, 10 trees", "≤ 1.5", soft_data(20_000), 10, 3)
    yield predict("predict_proba, 5,000 × 15, 50 trees, N_s = 1", "≤ 2.5", noisy_data(5000, 1), 50, 5)
    yield predict("predict_proba, 50,000 × 15, 10 trees, N_s = 1", "≤ 3.5", noisy_data(50_000, 1), 10, 5)
    yield predict("predict_proba, 50,000 × 15, 100 trees, N_s = 1", "≤ 2.5", noisy_data(50_000, 1), 100, 2)
    yield predict("predict_proba, exact data, 50,000 × 15, 10 trees", "≤ 0.7", noisy_data(50_000, 0), 10, 5)
    yield predict_one("predict_proba, one object, 100 trees, N_s = 1", "≤ 1.0", noisy_data(5000, 1), 100, 20)
    yield growth([10_000, 30_000, 100_000, 300_000], "≤ 1.1", 10, 1)
    yield from threads("≥ 1.85", noisy_data(10_000, 1), 50, 3)
    yield memory(300_000, "≤ 2.5")
    yield from kinds_of_errors("≤ 1.33", 10_000, 20, 4)
    yield from first_contact("≤ 10", "≤ 1.5")
    yield from start_up("≤ 0.3")


HEADER = (
    "| measure | result | target | probforest | scikit-learn | accuracy: probforest | scikit-learn "
    "| log loss: probforest | scikit-learn |\n" + "| --- " * 9 + "|"
)


def row(result: Result) -> str:
    def number(value: float | None, digits: int) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    cells = [
        result.name,
        number(result.value, 2),
        result.target,
        number(result.ours, 2 if result.ours is None or result.ours > 0.1 else 4),
        number(result.theirs, 2 if result.theirs is None or result.theirs > 0.1 else 4),
        number(result.accuracy, 3),
        number(result.accuracy_theirs, 3),
        number(result.log_loss, 3),
        number(result.log_loss_theirs, 3),
    ]
    return "| " + " | ".join(cells) + " |"


def draw(results: list[Result], path: Path) -> None:
    """Ratios as bars, if matplotlib is there."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        print("no figure: matplotlib is not installed")
        return
    ratios = [result for result in results if result.theirs is not None and result.accuracy is not None]
    figure, axes = plt.subplots(figsize=(7, 0.4 * len(ratios) + 1), layout="constrained")
    axes.barh([result.name for result in ratios], [result.value for result in ratios], color="#0072B2")
    axes.axvline(1, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlabel("time of probforest / time of scikit-learn, which ignores the errors")
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder of the results")
    options = parser.parse_args()
    noisy = noisy_data(100, 1)  # compile first
    predict("", "", noisy, 1, 1)
    print(HEADER, flush=True)
    results = []
    for result in quick_results() if options.quick else all_results():
        results.append(result)
        print(row(result), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    machine = {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("probforest", "scikit-learn", "numpy", "numba")},
    }
    document = {"machine": machine, "quick": options.quick, "results": [result.as_dict() for result in results]}
    (options.out / "results.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    (options.out / "results.md").write_text("\n".join([HEADER, *map(row, results)]) + "\n", encoding="utf-8")
    draw(results, options.out / "results.png")


if __name__ == "__main__":
    main()
