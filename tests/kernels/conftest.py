import numpy as np
import pytest


@pytest.fixture(autouse=True)
def machine_arithmetic():
    """Kernels divide by zero and overflow as machines do, and choose afterwards. Without JIT, NumPy would warn."""
    with np.errstate(all="ignore"):
        yield
