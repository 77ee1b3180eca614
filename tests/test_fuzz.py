"""The fuzzer finds bugs that are planted, and finds nothing where there is nothing."""

import pickle
import sys
import warnings

import numpy as np
import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("the fuzzer runs on Linux", allow_module_level=True)

import planted_cases
import probforest
from fuzzing import calls, kills, laws, model_files
from fuzzing.answers import Violation
from fuzzing.cases import generator, run_case
from fuzzing.hunt import Report, hunt, run_one, wait_until_idle
from fuzzing.problems import Problem, random_problem
from fuzzing.values import Table
from fuzzing.workers import Worker
from probforest import ProbabilisticDecisionTreeClassifier

HONEST = {name: getattr(ProbabilisticDecisionTreeClassifier, name) for name in ("fit", "predict_proba", "leaf_proba")}


def problem(expected="success"):
    """Nothing is special about it."""
    random = np.random.default_rng(0)
    X, labels = random.normal(size=(30, 2)), {"y": np.arange(30) % 2}
    return Problem("tree", {"keep_proba": 0.0}, Table(X, 0.1), labels, Table(X[:5] + 0.01, 0.1), expected)


def plant(monkeypatch, method, bug):
    monkeypatch.setattr(ProbabilisticDecisionTreeClassifier, method, bug)


def test_nothing_is_found_where_there_is_nothing():
    calls.attack(problem())
    for case in ("files:1", "files:2", "files:3"):
        assert run_case(0, case) is None


@pytest.mark.parametrize("name", [name for name, law in laws.LAWS.items() if law.options.get("estimator") != "forest"])
def test_laws_that_hold(name):
    law, plain = laws.LAWS[name], problem()
    plain.parameters |= {"missing": "observed"}
    plain.parameters |= {key: value for key, value in law.options.items() if key in plain.model().get_params()}
    if law.options.get("forms") == ("none",):
        plain.table, plain.query = Table(plain.table.X), Table(plain.query.X)
    law.check(plain, np.random.default_rng(0))


# Planted bugs: each takes what a call returns, and the query


def no_number(answer, X):
    return answer * np.nan


def too_much(answer, X):
    return answer + 0.1


def modify(answer, X):
    X[0, 0] = 7.0
    return answer


def warn(answer, X):
    warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)
    return answer


def refuse(answer, X):
    raise ValueError("operands could not be broadcast together")


def refuse_politely(answer, X):
    raise ValueError("X is too good to be true")


def fail(answer, X):
    raise KeyError("x")


@pytest.mark.parametrize(
    ("bug", "message"),
    [
        (no_number, "predict_proba is not finite"),
        (too_much, "predict_proba is outside"),
        (modify, "an argument was modified"),
        (warn, "RuntimeWarning: overflow encountered"),
        (refuse, "names no argument"),
        (refuse_politely, "a valid problem was refused"),
    ],
)
def test_bugs_of_a_call_are_found(monkeypatch, bug, message):
    def predict_proba(self, X, **about):
        return bug(HONEST["predict_proba"](self, X, **about), X)

    plant(monkeypatch, "predict_proba", predict_proba)
    with pytest.raises(Violation, match=message):
        calls.attack(problem())


def test_nonsense_that_is_accepted_is_found():
    with pytest.raises(Violation, match="nonsense was accepted"):
        calls.attack(problem(expected="refusal"))


def test_lost_probability_is_found(monkeypatch):
    plant(monkeypatch, "leaf_proba", lambda self, X, **about: HONEST["leaf_proba"](self, X, **about) * 0.9)
    with pytest.raises(Violation, match="does not sum to 1 with keep_proba=0"):
        calls.attack(problem())


def test_any_other_exception_is_reported_with_its_case(monkeypatch):
    plant(monkeypatch, "fit", lambda self, X, y=None, **about: fail(None, X))
    monkeypatch.setattr(probforest.ProbabilisticRandomForestClassifier, "fit", lambda *_, **__: fail(None, None))
    report = run_case(0, "calls:0")
    assert report.startswith("KeyError: 'x'")
    assert "notes:" in report  # what the problem was


def depends_on_company(self, X, **about):
    answer = HONEST["predict_proba"](self, X, **about)
    return answer if len(X) > 1 else answer[:, ::-1]


def forgets_weights(self, X, y=None, *, sample_weight=None, **about):
    return HONEST["fit"](self, X, y, **about)


def looks_at_the_order(self, X, y=None, **about):
    return HONEST["fit"](self, X[2:], y[2:], **about)


def knows_a_unit(self, X, y=None, **about):
    return HONEST["fit"](self, np.clip(X, -1, 1), y, **about)


@pytest.mark.parametrize(
    ("law", "method", "bug", "message"),
    [
        ("company", "predict_proba", depends_on_company, "an object alone"),
        ("weightless", "fit", forgets_weights, "objects without weight"),
        ("repeated", "fit", forgets_weights, "an object of weight 2"),
        ("order", "fit", looks_at_the_order, "another order of the training set"),
        ("units", "fit", knows_a_unit, "other units"),
    ],
)
def test_broken_laws_are_found(monkeypatch, law, method, bug, message):
    plant(monkeypatch, method, bug)
    with pytest.raises(Violation, match=message):
        laws.LAWS[law].check(problem(), np.random.default_rng(0))


# Files


def test_a_file_that_is_put_together_again_is_the_same_model():
    """Otherwise the fuzzer would not know how files are sealed, and all its crafted files would be refused."""
    for model in model_files.models():
        content = model_files.sealed(*model_files.taken_apart(model.content))
        model_files.judge(model_files.Damaged(content, is_sealed=False), model)
        assert not np.isnan(model.answer).any()


@pytest.mark.filterwarnings("ignore:The errors of this table")
def test_damaged_files_that_are_loaded_are_found(monkeypatch):
    model, other = model_files.models()[-2:]
    damaged = model_files.Damaged(other.content, is_sealed=False)
    with pytest.raises(Violation, match="a damaged file was loaded"):
        model_files.judge(damaged, model)
    monkeypatch.setattr(probforest, "load", lambda path: fail(None, path))
    with pytest.raises(KeyError):
        model_files.judge(damaged, model)


# Kills: the signal 0 does nothing, so that these jobs end by themselves, when they have done what is wrong

NO_SIGNAL = 0
UNDISTURBED = kills.Record(b"all of it", 0.0)


def write_half(folder):
    (folder / "model.prf").write_bytes(b"half of it")
    return True


def remove(folder):
    (folder / "model.prf").unlink()
    return True


def leave_a_part(folder):
    (folder / ".part").write_bytes(b"half of it")
    return True


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (write_half, "a file of 10 bytes is neither old nor new"),
        (remove, "the old file is gone"),
        (leave_a_part, r"an unfinished file is left: \['.part'\]"),
    ],
)
def test_broken_files_are_found(work, message):
    with pytest.raises(Violation, match=message):
        kills.kill(kills.Job(work, "model.prf", cleans_up=True), NO_SIGNAL, UNDISTURBED, 1.0)


# Cases and processes


def test_a_case_is_made_of_its_name_and_the_seed():
    first, again, other, other_seed = (
        pickle.dumps(random_problem(generator(seed, case)))
        for seed, case in ((0, "calls:7"), (0, "calls:7"), (0, "calls:8"), (1, "calls:7"))
    )
    assert first == again
    assert len({first, other, other_seed}) == 3


@pytest.mark.parametrize("case", ["calls", "calls:x", "nothing:1"])
def test_cases_that_there_are_not(case):
    with pytest.raises(ValueError, match="is no case"):
        generator(0, case)


def test_crashes_hangs_and_violations_are_reported_and_the_work_goes_on(capsys):
    report = Report(["wrong", "fine", "crash", "hang"], seed=3)
    workers = [Worker(planted_cases.attack, planted_cases.prepare, time_limit) for time_limit in (60.0, 0.1)]
    try:
        run_one(workers[0], "crash:0", report)
        run_one(workers[1], "hang:0", report)
        del report.tallies["crash"], report.tallies["hang"]
        wait_until_idle(workers, report)
        hunt(workers[:1], report, lambda: min(tally.cases for tally in report.tallies.values()) >= 3)
    finally:
        for worker in workers:
            worker.stop()
    printed = capsys.readouterr().out
    assert "--seed 3 --case crash:0\n    crash: the process ended with code 3" in printed
    assert "--seed 3 --case hang:0\n    hang: no answer in" in printed
    assert "--seed 3 --case wrong:0\n    a violation\n    of wrong:0" in printed
    wrong, fine = report.tallies["wrong"], report.tallies["fine"]
    assert [outcome.case for outcome in wrong.violations] == [f"wrong:{number}" for number in range(wrong.cases)]
    assert fine.violations == []
    assert report.n_violations == wrong.cases
    assert report.summary().startswith(f"wrong: {wrong.cases:,} cases, {wrong.cases:,} violations\nfine: ")
