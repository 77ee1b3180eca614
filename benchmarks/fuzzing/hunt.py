"""Shares the time between the kinds of attack, counts cases and violations, and prints both."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from .workers import Outcome, Worker, wait_for_any

_SHOWN = 3  # violations of the same sort that are printed in full


@dataclass
class Tally:
    """What is known about one kind of attack."""

    cases: int = 0
    seconds: float = 0.0
    violations: list[Outcome] = field(default_factory=list)


class Report:
    """All outcomes by kind; prints a violation when it is found."""

    def __init__(self, kinds: Iterable[str], seed: int):
        self.tallies = {kind: Tally() for kind in kinds}
        self._seed = seed
        self._seen: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        tally = self.tallies[kind_of(outcome.case)]
        tally.cases += 1
        tally.seconds += outcome.seconds
        if outcome.violation is not None:
            tally.violations.append(outcome)
            self._show(outcome)

    def _show(self, outcome: Outcome) -> None:
        assert outcome.violation is not None
        sort = sort_of(outcome)
        self._seen[sort] += 1
        if self._seen[sort] <= _SHOWN:
            print(f"VIOLATION, python benchmarks/fuzz.py --seed {self._seed} --case {outcome.case}", flush=True)
            print("    " + outcome.violation.replace("\n", "\n    "), flush=True)

    @property
    def n_violations(self) -> int:
        return sum(len(tally.violations) for tally in self.tallies.values())

    def summary(self) -> str:
        lines = [
            f"{kind}: {tally.cases:,} cases, {len(tally.violations):,} violations"
            for kind, tally in self.tallies.items()
        ]
        repeated = [f"{count:,} × {sort}" for sort, count in self._seen.most_common()]
        return "\n".join(lines + (["", "sorts of violations:", *repeated] if repeated else []))


def kind_of(case: str) -> str:
    """The kind of the case "laws:17"."""
    return case.partition(":")[0]


def sort_of(outcome: Outcome) -> str:
    """Violations that differ in numbers only are of one sort."""
    first_line = (outcome.violation or "").partition("\n")[0]
    return kind_of(outcome.case) + ": " + re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", "#", first_line)[:150]


def hunt(workers: list[Worker], report: Report, is_over: Callable[[], bool]) -> None:
    """Run cases until it is over. Which ones there are depends on the seed only; the time decides how many."""
    numbers = {kind: itertools.count() for kind in report.tallies}
    spent = dict.fromkeys(report.tallies, 0.0)
    while not is_over():
        for worker in workers:
            if worker.is_idle:
                kind = min(spent, key=spent.__getitem__)
                spent[kind] += 1e-3  # so that two workers at the start don't take the same
                worker.begin(f"{kind}:{next(numbers[kind])}")
        wait_for_any(workers, 0.1)
        for outcome in _outcomes(workers):
            report.add(outcome)
            spent[kind_of(outcome.case)] += outcome.seconds
    wait_until_idle(workers, report)


def run_one(worker: Worker, case: str, report: Report) -> None:
    """Run a single case."""
    wait_until_idle([worker], report)
    worker.begin(case)
    while (outcome := worker.look()) is None:
        wait_for_any([worker], 0.1)
    report.add(outcome)


def wait_until_idle(workers: list[Worker], report: Report) -> None:
    """Wait for cases that run, and for workers that start."""
    while not all(worker.is_idle for worker in workers):
        for outcome in _outcomes(workers):
            report.add(outcome)
        wait_for_any(workers, 0.1)


def _outcomes(workers: list[Worker]) -> Iterator[Outcome]:
    for worker in workers:
        outcome = worker.look()
        if outcome is not None:
            yield outcome
