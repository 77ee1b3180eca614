import os

# scikit-learn skips its check of array-API input without this; it must be set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from command_line import folder, small_model  # noqa: F401 (fixtures)
