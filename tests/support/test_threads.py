import contextlib
import os
import subprocess
import sys
import threading
import time

import pytest
from joblib import parallel_config

from probforest.support.threads import in_threads


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_answers_come_in_order(n_jobs):
    assert list(in_threads(lambda item: item * 2, range(20), n_jobs)) == list(range(0, 40, 2))


def test_nothing_to_do():
    assert list(in_threads(abs, [], 2)) == []


def threads_that_worked(n_jobs):
    meeting = threading.Barrier(2, timeout=0.2)

    def work(_):
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait()
        return threading.get_ident()

    return set(in_threads(work, range(2), n_jobs))


def test_n_jobs_and_the_context_of_joblib_count():
    assert len(threads_that_worked(2)) == 2
    assert threads_that_worked(None) == {threading.get_ident()}
    with parallel_config(backend="threading", n_jobs=2):
        assert len(threads_that_worked(None)) == 2


def test_an_error_is_raised_and_what_has_not_begun_is_dropped():
    begun = []

    def work(item):
        begun.append(item)
        if item == 1:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        list(in_threads(work, range(10_000), 2))
    assert len(begun) < 10_000


def test_the_first_error_in_the_order_of_the_items_is_raised():
    second_is_done = threading.Event()

    def work(item):
        if item == 0:
            second_is_done.wait(10)
            raise RuntimeError("first")
        second_is_done.set()
        raise RuntimeError("second")

    with pytest.raises(RuntimeError, match="first"):
        list(in_threads(work, range(5), 2))


def test_answers_that_nobody_wants_any_more_are_not_computed():
    begun = []

    def work(item):
        begun.append(item)
        time.sleep(0.001)

    answers = in_threads(work, range(10_000), 2)
    next(answers)
    answers.close()
    assert len(begun) < 10_000


def test_work_inside_of_work_is_not_stuck():
    def work(item):
        return sum(in_threads(lambda inner: item * inner, range(4), 2))

    assert list(in_threads(work, range(20), 2)) == [6 * item for item in range(20)]


def test_threads_stay_for_the_next_time():
    others = [threads_that_worked(2) - {threading.get_ident()} for _ in range(2)]
    assert len(others[0]) == 1
    assert others[0] == others[1]


IN_A_CHILD = """
import os
from probforest.support.threads import in_threads
assert list(in_threads(abs, [-1, 2, -3], 2)) == [1, 2, 3]
child = os.fork()
if child == 0:
    os._exit(0 if list(in_threads(abs, [-1, 2, -3], 2)) == [1, 2, 3] else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_has_threads_of_its_own():
    subprocess.run([sys.executable, "-W", "ignore", "-c", IN_A_CHILD], check=True, timeout=60)
