"""Lazy predictions, partition by partition."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..support.extras import need
from .collections import dask_module, is_array, is_table


def predict_proba(model: Any, X: Any, *, X_err: Any = None, X_limit: Any = None) -> Any:
    """Probabilities of the classes, for each partition when it is asked for.

    Parameters
    ----------
    model : fitted classifier of probforest
        Also one that was fitted without Dask, or loaded.
    X : Dask DataFrame or array of shape (n_samples, n_features)
        The table, with the columns of the fit.
    X_err, X_limit : Dask collection with the partitions of X, or the same for all objects, default=None
        As in the model's own method.

    Returns
    -------
    Dask DataFrame with the index of X and a column per class, or Dask array of shape (n_samples, n_classes)
        Nothing is computed yet.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> from probforest.dask import predict_proba
    >>> predict_proba(tree, dd.from_pandas(X, npartitions=2)).compute().shape
    (150, 3)
    """
    names = [str(name) for name in model.classes_.tolist()]
    return _lazily(model, "predict_proba", X, X_err, X_limit, names, np.dtype(np.float64))


def predict(model: Any, X: Any, *, X_err: Any = None, X_limit: Any = None) -> Any:
    """Most probable classes, or means of numbers, for each partition when it is asked for.

    Parameters and partitions as in `predict_proba`. Returns a Dask Series with the index of X and the name "predicted",
    or a Dask array of shape (n_samples,).

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> from probforest.dask import predict
    >>> predict(tree, dd.from_pandas(X, npartitions=2)).compute().shape
    (150,)
    """
    kind = model.classes_.dtype if hasattr(model, "classes_") else np.dtype(np.float64)
    return _lazily(model, "predict", X, X_err, X_limit, None, kind)


def partition_proba(table: Any, model: Any) -> Any:
    """Probabilities of the classes for one partition, a pandas DataFrame, which may be empty: what `map_partitions` of
    LSDB and others takes.

    Parameters
    ----------
    table : pandas DataFrame
        A partition, with the columns of the fit and any others.
    model : fitted classifier of probforest
        The model.

    Returns
    -------
    pandas DataFrame
        The index of `table`, and a column per class: `proba_` and its name.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> from probforest.dask import partition_proba
    >>> partition_proba(X.head(2), tree).shape
    (2, 3)
    """
    names = [f"proba_{name}" for name in model.classes_.tolist()]
    used = model.feature_model_.layout.names
    if used is None:
        raise ValueError("The model was fitted on arrays: nothing says which columns of a table it needs.")
    missing = [name for name in used if name not in table.columns]
    if missing:
        raise ValueError(f"The partition has no column {missing[0]!r}, which the model needs.")
    return _answers(table[list(used)], None, None, model, "predict_proba", names)


def _lazily(model: Any, method: str, X: Any, X_err: Any, X_limit: Any, names: list[str] | None, kind: np.dtype) -> Any:
    shared = dask_module().delayed(model, traverse=False, pure=False)
    if is_table(X):
        pandas = need("pandas", "probforest.dask", "dask")
        empty: Any = pandas.Series(_some_answer(model), name="predicted").iloc[:0]
        if names is not None:
            empty = pandas.DataFrame({name: np.empty(0, dtype=kind) for name in names})
        empty.index = X._meta.index[:0]
        return X.map_partitions(_answers, X_err, X_limit, shared, method, names, meta=empty, align_dataframes=False)
    if not is_array(X) or X.ndim != 2:
        raise TypeError(f"X must be a Dask DataFrame or a Dask array with two dimensions; got {type(X).__name__}.")
    array = dask_module("dask.array")
    X = X.rechunk({1: -1})
    beside = [
        None if each is None else array.broadcast_to(each, X.shape).rechunk(X.chunks) for each in (X_err, X_limit)
    ]
    arrays = [each for each in beside if each is not None]
    options: dict[str, Any] = {"model": shared, "method": method, "has": [each is not None for each in beside]}
    if names is None:
        return array.map_blocks(_of_block, X, *arrays, dtype=kind, drop_axis=1, meta=np.empty(0, dtype=kind), **options)
    chunks, meta = (X.chunks[0], (len(names),)), np.empty((0, len(names)))
    return array.map_blocks(_of_block, X, *arrays, dtype=kind, chunks=chunks, meta=meta, **options)


def _of_block(X: np.ndarray, *others: np.ndarray, model: Any, method: str, has: list[bool]) -> np.ndarray:
    given = iter(others)
    X_err, X_limit = (next(given) if there else None for there in has)
    return _answers(X, X_err, X_limit, model, method, None)


def _answers(X: Any, X_err: Any, X_limit: Any, model: Any, method: str, names: list[str] | None) -> Any:
    """The answers for a partition, in the form of the partition."""
    if len(X):
        # All partitions are answered by the same trees, whatever the errors of each are like.
        with model.assuming(()):
            found = getattr(model, method)(X, X_err=X_err, X_limit=X_limit)
    elif method == "predict_proba":
        found = np.empty((0, len(model.classes_)))
    else:
        found = _some_answer(model)[:0]
    if not hasattr(X, "iloc"):
        return found
    pandas = need("pandas", "probforest.dask", "dask")
    if names is None and not len(X):
        return pandas.Series(_some_answer(model), name="predicted").iloc[:0].set_axis(X.index)
    if names is None:
        return pandas.Series(found, index=X.index, name="predicted")
    return pandas.DataFrame(found, index=X.index, columns=names)


def _some_answer(model: Any) -> np.ndarray:
    """What `predict` may answer: pandas makes another type of text than of an empty array for text."""
    return model.classes_[:1] if hasattr(model, "classes_") else np.zeros(1)
