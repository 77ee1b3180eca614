"""The answer of a regressor: for every object a distribution of its target, computed in pieces when it is asked for."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state

from ..inputs.parameters import check_integer
from ..kernels.layout import Cells
from ..support.extras import need
from .calibration import LEVELS
from .fitted_tree import FittedTree
from .leaf_targets import stacked
from .leaves import leaf_probabilities
from .weighted_targets import WeightedTargets, weigh_targets

_OBJECTS = 4096  # that go down the trees together
_MODE_LEVELS = np.linspace(0.01, 0.99, 99)  # quantiles, at one of which the density is taken to be the largest


class PredictedDistribution:
    """Distributions of the targets of many objects.

    Each is the set of training targets with weights, which are the probabilities of the object to reach the leaves
    that the training objects are in. With exact values, these are the weights of quantile regression forests
    (Meinshausen 2006). Nothing is kept: every method goes through the trees in pieces, so that a million objects need
    little memory.

    Attributes
    ----------
    n_objects : int
        Number of objects.
    targets : ndarray of shape (n_targets,)
        The different targets of the training set, increasing.

    Examples
    --------
    >>> import numpy as np
    >>> from probforest import ProbabilisticRandomForestRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> forest = ProbabilisticRandomForestRegressor(20, random_state=0).fit(X, 3 * X[:, 0], X_err=0.02)
    >>> answer = forest.predict_distribution([[0.5]], X_err=0.02)
    >>> low, high = answer.interval(0.9).T
    >>> bool(low[0] < 1.5 < high[0])
    True
    """

    def __init__(
        self,
        trees: Sequence[FittedTree],
        query: Cells,
        keep_proba: float,
        n_jobs: int | None = None,
        calibration: np.ndarray | None = None,
    ) -> None:
        self._calibration = calibration
        self._trees, self._query, self._keep_proba, self._n_jobs = list(trees), query, keep_proba, n_jobs
        self.targets, self._shares = stacked([tree.targets for tree in trees if tree.targets is not None])

    def __len__(self) -> int:
        return self.n_objects

    def __repr__(self) -> str:
        return f"<PredictedDistribution of {self.n_objects} objects over {len(self.targets)} targets>"

    @property
    def n_objects(self) -> int:
        return len(self._query.values)

    def pieces(self) -> Iterator[tuple[slice, WeightedTargets]]:
        """The distributions of some rows after the other, as arrays."""
        for top in range(0, self.n_objects, _OBJECTS):
            query = self._query._replace(values=self._query.values[top : top + _OBJECTS])
            reach = leaf_probabilities(self._trees, query, self._keep_proba, self._n_jobs, scaled=True)
            for rows, piece in weigh_targets(reach, self.targets, self._shares):
                if self._calibration is not None:
                    piece = piece.recalibrated(LEVELS, self._calibration)
                yield slice(top + rows.start, top + rows.stop), piece

    def _collect(self, numbers_of: Callable[[slice, WeightedTargets], np.ndarray], *shape: int) -> np.ndarray:
        found = np.empty((self.n_objects, *shape))
        for rows, piece in self.pieces():
            found[rows] = numbers_of(rows, piece)
        return found

    @property
    def mean(self) -> np.ndarray:
        """Expectation of every target, (n,)."""
        return self._collect(lambda _, piece: piece.mean)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of every target, (n,)."""
        return self._collect(lambda _, piece: piece.std)

    @property
    def median(self) -> np.ndarray:
        """Median of every target, (n,)."""
        return self.quantile(0.5)

    @property
    def mode(self) -> np.ndarray:
        """Where the density of every target is largest, (n,)."""

        def of_piece(_: slice, piece: WeightedTargets) -> np.ndarray:
            places = piece.quantiles(_MODE_LEVELS)
            best = piece.pdf(places).argmax(axis=1)
            return places[np.arange(len(places)), best]

        return self._collect(of_piece)

    @property
    def weights(self) -> sparse.csr_matrix:
        """Weights of the training targets, (n, n_targets), columns in the order of `targets`. All of them at once: take
        `pieces` for many objects."""
        return sparse.vstack([piece.matrix for _, piece in self.pieces()], format="csr")

    def summary(self, q: ArrayLike = (0.16, 0.5, 0.84)) -> np.ndarray:
        """Compute mean, standard deviation and quantiles in one go.

        Parameters
        ----------
        q : array-like of shape (k,)
            Probabilities between 0 and 1.

        Returns
        -------
        ndarray of shape (n, 2 + k)
            Mean, standard deviation and the quantiles.
        """
        levels = np.atleast_1d(_probabilities("q", q))

        def of_piece(_: slice, piece: WeightedTargets) -> np.ndarray:
            return np.column_stack([piece.mean, piece.std, piece.quantiles(levels)])

        return self._collect(of_piece, 2 + len(levels))

    def to_table(self, q: ArrayLike = (0.16, 0.5, 0.84)) -> Any:
        """Put mean, standard deviation and quantiles into a table.

        Parameters
        ----------
        q : array-like of shape (k,)
            Probabilities between 0 and 1.

        Returns
        -------
        pandas DataFrame with n rows
            The columns are mean, std, and q16, q50, ..., named by per cent.
        """
        pandas = need("pandas", "A table", "tables")
        levels = np.atleast_1d(_probabilities("q", q))
        names = ["mean", "std", *(f"q{100 * level:.6g}" for level in levels.tolist())]
        return pandas.DataFrame(self.summary(levels), columns=names)

    def quantile(self, q: ArrayLike) -> np.ndarray:
        """Compute quantiles.

        Parameters
        ----------
        q : float or array-like of shape (k,)
            Probabilities between 0 and 1.

        Returns
        -------
        ndarray of shape (n,) or (n, k)
            The smallest target whose cumulative probability is at least q.
        """
        levels = _probabilities("q", q)
        found = self._collect(lambda _, piece: piece.quantiles(levels.ravel()), levels.size)
        return found[:, 0] if levels.ndim == 0 else found

    def interval(self, p: float = 0.9) -> np.ndarray:
        """Compute central intervals that contain the target with probability p.

        Parameters
        ----------
        p : float, default=0.9
            Probability between 0 and 1.

        Returns
        -------
        ndarray of shape (n, 2)
            Lower and upper ends.
        """
        level = _probabilities("p", p)
        if level.ndim:
            raise ValueError(f"p must be a single probability; got {p!r}.")
        return self.quantile([(1 - float(level)) / 2, (1 + float(level)) / 2])

    def cdf(self, y: ArrayLike) -> np.ndarray:
        """Compute the probability that the target is not above y.

        Parameters
        ----------
        y : float, or array-like of shape (n,), (n, k) or (1, k)
            A place for all objects, one for each, k for each, or k for all.

        Returns
        -------
        ndarray of shape (n,) or (n, k)
            Probabilities.
        """
        return self._at(y, lambda piece, places: piece.cdf(places))

    def pdf(self, y: ArrayLike) -> np.ndarray:
        """Compute the density, with a normal kernel around each training target (Silverman's rule).

        Parameters
        ----------
        y : float, or array-like of shape (n,), (n, k) or (1, k)
            A place for all objects, one for each, k for each, or k for all.

        Returns
        -------
        ndarray of shape (n,) or (n, k)
            Densities.
        """
        return self._at(y, lambda piece, places: piece.pdf(places))

    def pit(self, y: ArrayLike) -> np.ndarray:
        """Compute the probability integral transform of true targets: uniform if the distributions are right.

        Parameters
        ----------
        y : array-like of shape (n,)
            True targets.

        Returns
        -------
        ndarray of shape (n,)
            Cumulative probabilities; of a target that training objects have, the middle of its step.
        """
        return self._at(y, lambda piece, places: (piece.cdf(places) + piece.cdf(places, below=True)) / 2)

    def crps(self, y: ArrayLike) -> np.ndarray:
        """Compute the continuous ranked probability score of every object, in the unit of the target; less is better.

        Parameters
        ----------
        y : array-like of shape (n,)
            True targets.

        Returns
        -------
        ndarray of shape (n,)
            The scores; the absolute error, if all weight is on one target.
        """
        truth = self._places(y)[0]
        if truth.shape[1] != 1:
            raise ValueError(f"y has shape {np.shape(y)}; expected one target per object, ({self.n_objects},).")
        return self._collect(lambda rows, piece: piece.crps(truth[rows, 0]))

    def sample(self, n: int = 1, random_state: int | np.random.RandomState | None = None) -> np.ndarray:
        """Draw targets at random.

        Parameters
        ----------
        n : int, default=1
            Draws per object.
        random_state : int, RandomState instance or None, default=None
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n_objects, n)
            Training targets, drawn with their weights.
        """
        check_integer("n", n, 1)
        random = check_random_state(random_state)

        def of_piece(_: slice, piece: WeightedTargets) -> np.ndarray:
            return piece.draws(random.uniform(size=(piece.n_objects, n)))

        return self._collect(of_piece, n)

    def _at(self, y: ArrayLike, numbers_of: Callable[[WeightedTargets, np.ndarray], np.ndarray]) -> np.ndarray:
        places, is_flat = self._places(y)
        found = self._collect(lambda rows, piece: numbers_of(piece, places[rows]), places.shape[1])
        return found[:, 0] if is_flat else found

    def _places(self, y: ArrayLike) -> tuple[np.ndarray, bool]:
        """Places (n, k), and whether there is one for each object."""
        places = np.asarray(y, dtype=np.float64)
        if np.isnan(places).any():
            raise ValueError("y contains NaN; expected places to look at.")
        if places.ndim == 0 or places.shape == (self.n_objects,):
            return np.broadcast_to(np.atleast_1d(places)[:, None], (self.n_objects, 1)), True
        if places.ndim == 2 and len(places) in (1, self.n_objects):
            return np.broadcast_to(places, (self.n_objects, places.shape[1])), False
        raise ValueError(
            f"y has shape {places.shape}; expected a number, one per object, ({self.n_objects},), several per object, "
            f"({self.n_objects}, k), or the same ones for all objects, (1, k)."
        )


def _probabilities(name: str, given: Any) -> np.ndarray:
    try:
        levels = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must be one or more probabilities: {problem}") from problem
    if levels.ndim > 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(f"{name} must be one or more probabilities between 0 and 1; got {given!r}.")
    return levels
