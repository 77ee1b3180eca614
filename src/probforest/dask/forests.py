"""Forests that are fitted to Dask's tables and arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone

from ..estimators.forest import ProbabilisticRandomForestClassifier
from ..estimators.forest_regressor import ProbabilisticRandomForestRegressor
from ..estimators.in_pieces import SAMPLE, fit_in_pieces
from ..estimators.memory_plan import FEWEST_DRAWS, half_of_the_memory, plan_memory
from ..support.warning import warn_caller
from .collections import dask_module, partitions_of
from .passes import DaskPasses
from .predictions import predict, predict_proba


class DaskForest(BaseEstimator):
    """What both forests have in common. Not for use on its own.

    It has a forest of probforest inside, and that one's parameters and fitted attributes.
    """

    _kind: ClassVar[type]
    _local: Any

    def __init__(self, n_estimators: int = 100, *, client: Any = None, **parameters: Any) -> None:
        self.client = client
        self._local = self._kind(n_estimators, **parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters: those of the forest in memory, and `client`."""
        return {**self._local.get_params(deep), "client": self.client}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters."""
        if "client" in parameters:
            self.client = parameters.pop("client")
        self._local.set_params(**parameters)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._local, name)

    def __getstate__(self) -> dict[str, Any]:
        return {"client": None, "_local": self._local}  # a connection can't be sent anywhere

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self._local, "trees_")

    def to_local(self) -> Any:
        """The fitted forest, as an ordinary one of probforest: to save it, to explain its answers, for NumPy."""
        local = clone(self._local)
        local.__dict__.update(self._local.__dict__)
        return local

    def predict(self, X: Any, *, X_err: Any = None, X_limit: Any = None) -> Any:
        """Predict lazily; see `probforest.dask.predict`."""
        return predict(self.to_local(), X, X_err=X_err, X_limit=X_limit)

    def _fit(self, X: Any, arguments: dict[str, Any], classes: Any = None, feature_model: Any = None) -> Self:
        partitions = partitions_of(X, arguments)
        client = self._client()
        passes = DaskPasses(partitions, client, int(self._local.verbose))
        n_features = len(X.columns) if hasattr(X, "columns") else X.shape[1]
        with self._in_one_thread():
            done = fit_in_pieces(
                self._local,
                passes,
                n_sample=SAMPLE,
                most_draws=self._most_draws(client, n_features),
                classes=classes,
                feature_model=feature_model,
            )
        if done.n_draws is not None and self._local.max_samples is None and done.n_draws < done.n_objects:
            warn_caller(
                f"Each tree draws {done.n_draws:,} of {done.n_objects:,} objects, as many as fit into the memory of a "
                "worker. Give max_samples to choose their number."
            )
        return self

    def _client(self) -> Any:
        """The client that was given, or the one of this process; None: there is no cluster."""
        if self.client is not None:
            return self.client
        try:
            return dask_module("distributed").get_client()
        except (ImportError, ValueError):
            return None

    def _most_draws(self, client: Any, n_features: int) -> int:
        """How many objects a tree can hold: all trees of a worker share its memory."""
        model = clone(self._local)
        if client is None:
            return plan_memory(half_of_the_memory(), model.set_params(n_jobs=-1), n_features, n_features).most_draws
        found = []
        for n_threads, memory in client.run_on_scheduler(_workers):
            one = model.set_params(n_jobs=n_threads, n_estimators=n_threads)
            try:
                found.append(plan_memory(memory or half_of_the_memory(), one, n_features, n_features).most_draws)
            except ValueError:
                found.append(FEWEST_DRAWS)  # small workers can still work on small tables
        if not found:
            raise RuntimeError("The Dask cluster has no workers.")
        return min(found)

    @contextmanager
    def _in_one_thread(self) -> Iterator[None]:
        """A task is one thread; Dask runs many of them."""
        before = self._local.n_jobs
        self._local.n_jobs = 1
        try:
            yield
        finally:
            self._local.n_jobs = before


def _workers(dask_scheduler: Any = None) -> list[tuple[int, int]]:
    """Threads and bytes of memory of each worker; Dask calls this in the scheduler."""
    return [(worker.nthreads, worker.memory_limit) for worker in dask_scheduler.workers.values()]


class DaskProbabilisticRandomForestClassifier(ClassifierMixin, DaskForest):
    """A ProbabilisticRandomForestClassifier that is fitted to Dask's tables, whatever their size.

    The forest does not depend on the number of workers or partitions. For a table of up to 100,000 rows it is that of
    the classifier in memory, bit for bit; from a larger one, all but the trees is learnt from a sample of so many rows.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    client : distributed.Client, default=None
        The cluster. None: that of this process, or, if there is none, threads.
    **parameters
        All other parameters of ProbabilisticRandomForestClassifier. `n_jobs` has no meaning: tasks are single threads.

    Examples
    --------
    >>> import dask.array
    >>> from probforest.dask import DaskProbabilisticRandomForestClassifier
    >>> X = dask.array.from_array([[1.0], [2.0], [4.0], [5.0]], chunks=2)
    >>> y = dask.array.from_array([0, 0, 1, 1], chunks=2)
    >>> forest = DaskProbabilisticRandomForestClassifier(10, random_state=0).fit(X, y, X_err=0.5)
    >>> forest.predict(X, X_err=0.5).compute()
    array([0, 0, 1, 1])
    """

    _kind = ProbabilisticRandomForestClassifier

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_err: Any = None,
        X_limit: Any = None,
        X_samples: Any = None,
        y_proba: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        feature_model: Any = None,
    ) -> Self:
        """Fit the forest.

        Parameters
        ----------
        X : Dask DataFrame or array of shape (n_samples, n_features)
            Values; with `error_columns`, a DataFrame has errors in its columns.
        y, y_proba, sample_weight : Dask collection with the partitions of X, or str, default=None
            As in ProbabilisticRandomForestClassifier. A name is that of a column of X, which is then no feature;
            `y_proba` may be a list of such names, one per class.
        X_err, X_limit, X_samples : Dask collection with the partitions of X, default=None
            As in ProbabilisticRandomForestClassifier. `X_err` may also be a number, or a number per feature.
        classes, feature_model : default=None
            As in ProbabilisticRandomForestClassifier.

        Returns
        -------
        self
            The fitted forest.
        """
        arguments = {"y": y, "X_err": X_err, "X_limit": X_limit, "X_samples": X_samples, "y_proba": y_proba}
        return self._fit(X, {**arguments, "sample_weight": sample_weight}, classes, feature_model)

    def predict_proba(self, X: Any, *, X_err: Any = None, X_limit: Any = None) -> Any:
        """Predict probabilities lazily; see `probforest.dask.predict_proba`."""
        return predict_proba(self.to_local(), X, X_err=X_err, X_limit=X_limit)


class DaskProbabilisticRandomForestRegressor(RegressorMixin, DaskForest):
    """A ProbabilisticRandomForestRegressor that is fitted to Dask's tables, whatever their size.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    client : distributed.Client, default=None
        The cluster. None: that of this process, or, if there is none, threads.
    **parameters
        All other parameters of ProbabilisticRandomForestRegressor. `n_jobs` has no meaning: tasks are single threads.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.datasets import load_iris
    >>> from probforest.dask import DaskProbabilisticRandomForestRegressor
    >>> table = dd.from_pandas(load_iris(as_frame=True).data, npartitions=2)
    >>> model = DaskProbabilisticRandomForestRegressor(3, random_state=0).fit(table, "petal width (cm)")
    >>> model.predict(table.drop(columns="petal width (cm)")).compute().shape
    (150,)
    """

    _kind = ProbabilisticRandomForestRegressor

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        X_err: Any = None,
        X_limit: Any = None,
        X_samples: Any = None,
        y_err: Any = None,
        sample_weight: Any = None,
        feature_model: Any = None,
    ) -> Self:
        """Fit the forest.

        Parameters
        ----------
        X : Dask DataFrame or array of shape (n_samples, n_features)
            Values; with `error_columns`, a DataFrame has errors in its columns.
        y, y_err, sample_weight : Dask collection with the partitions of X, or str, default=None
            As in ProbabilisticRandomForestRegressor. A name is that of a column of X, which is then no feature.
        X_err, X_limit, X_samples : Dask collection with the partitions of X, default=None
            As in ProbabilisticRandomForestRegressor. `X_err` may also be a number, or a number per feature.
        feature_model : default=None
            As in ProbabilisticRandomForestRegressor.

        Returns
        -------
        self
            The fitted forest.
        """
        arguments = {"y": y, "X_err": X_err, "X_limit": X_limit, "X_samples": X_samples, "y_err": y_err}
        return self._fit(X, {**arguments, "sample_weight": sample_weight}, None, feature_model)
