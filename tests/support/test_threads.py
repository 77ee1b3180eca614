import contextlib
import threading

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
