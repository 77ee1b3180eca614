import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _one_thread():
    """Gradient boosting on a few dozen objects: threads that wait for each other take longer than the work."""
    with threadpool_limits(1):
        yield
