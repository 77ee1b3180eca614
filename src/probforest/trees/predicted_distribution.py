"""The answer of a regressor: for every object a distribution of its target, computed in pieces when it is asked for."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state

from ..inputs.parameters import PREDICTIONS, check_integer, check_word
from ..inputs.places import read_places, read_probabilities, read_probability, read_rows, read_truth
from ..kernels.layout import Cells
from ..support.extras import need
from .calibration import recalibrated
from .conformal import PROBABILITIES, Margins, conformal_interval
from .distribution_figures import draw_densities, places_to_draw
from .distribution_qp import checked_grid, to_ensemble
from .fitted_tree import FittedTree
from .leaf_slopes import Scales
from .reached_leaves import ReachedLeaves
from .weighted_targets import WeightedTargets, quantiles_in_leaves, weigh_targets


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
        margins: Margins | None = None,
        scales: Scales | None = None,
    ) -> None:
        self._calibration, self._margins, self._query = calibration, margins, query
        self._leaves = ReachedLeaves(trees, keep_proba, n_jobs, scales)
        self.targets = self._leaves.targets

    def __len__(self) -> int:
        return self.n_objects

    def __repr__(self) -> str:
        return f"<PredictedDistribution of {self.n_objects} objects over {len(self.targets)} targets>"

    @property
    def n_objects(self) -> int:
        return len(self._query.values)

    def pieces(self) -> Iterator[tuple[slice, WeightedTargets]]:
        """The distributions of some rows after the other, as arrays."""
        for reached in self._leaves.by(self._query):
            found = weigh_targets(reached.probability, self.targets, self._leaves.shares, reached.shift)
            for rows, piece in found:
                top = reached.rows.start
                yield slice(top + rows.start, top + rows.stop), recalibrated(piece, self._calibration)

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
        return self.point("median")

    @property
    def mode(self) -> np.ndarray:
        """Where the density of every target is largest, (n,)."""
        return self.point("mode")

    def point(self, kind: str) -> np.ndarray:
        """Compute one number for every object.

        Parameters
        ----------
        kind : {"mean", "median", "mode"}
            Which one.

        Returns
        -------
        ndarray of shape (n,)
            The numbers.
        """
        check_word("kind", kind, PREDICTIONS)
        if kind == "median":
            return self.quantile(0.5)
        return self._collect(lambda _, piece: piece.point(kind))

    @property
    def shift(self) -> np.ndarray:
        """How far the targets of every object are moved, (n,): by the slopes of a forest with slopes, 0 without."""
        found = np.zeros(self.n_objects)
        for rows, _, shift in self._leaves.by(self._query) if self._leaves.slopes is not None else ():
            found[rows] = shift
        return found

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
        levels = np.atleast_1d(read_probabilities("q", q))

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
        levels = np.atleast_1d(read_probabilities("q", q))
        names = ["mean", "std", *(f"q{100 * level:.6g}" for level in levels.tolist())]
        return pandas.DataFrame(self.summary(levels), columns=names)

    def to_qp(self, grid: ArrayLike | None = None) -> Any:
        """Put the densities into an ensemble of the package qp, the format of photometric redshifts.

        Parameters
        ----------
        grid : array-like of shape (k,), default=None
            Places of the densities, increasing; None: 501 places around all training targets. What lies outside is
            lost: qp normalises each density on the grid.

        Returns
        -------
        qp.Ensemble
            Of n interpolated densities. qp is installed by the extra photoz.
        """
        places = checked_grid(grid, self.targets)
        return to_ensemble(self.pieces(), self.n_objects, places)

    def plot(
        self, rows: int | Sequence[int] = 0, *, p: float = 0.68, truth: ArrayLike | None = None, ax: Any = None
    ) -> Any:
        """Draw the densities of some objects.

        Parameters
        ----------
        rows : int or sequence of int, default=0
            The objects.
        p : float, default=0.68
            Probability of the interval that is filled.
        truth : array-like of shape (n,), default=None
            True targets of all n objects, drawn as dashed lines.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        names, half = read_rows(rows, self.n_objects), read_probability("p", p) / 2
        chosen = self[names]
        known = None if truth is None else read_truth(truth, self.n_objects)[names]
        low, *ends, high = chosen.quantile([0.001, 0.5 - half, 0.5 + half, 0.999]).T
        places = places_to_draw(low, high)
        return draw_densities(ax, names.tolist(), places, chosen.pdf(places), np.column_stack(ends), known)

    def __getitem__(self, rows: int | slice | Sequence[int] | np.ndarray) -> "PredictedDistribution":
        """The distributions of some objects."""
        some = copy(self)  # which shares everything but the objects
        some._query = self._query._replace(values=self._query.values[read_rows(rows, self.n_objects)])
        return some

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
        levels = read_probabilities("q", q)
        found = self._quantiles(levels.ravel())
        return found[:, 0] if levels.ndim == 0 else found

    def _quantiles(self, levels: np.ndarray) -> np.ndarray:
        """(n, k) for `levels` (k,)."""
        if self._calibration is not None:  # which changes all weights
            return self._collect(lambda _, piece: piece.quantiles(levels), len(levels))
        found = np.empty((self.n_objects, len(levels)))
        for rows, reach, shift in self._leaves.by(self._query):
            found[rows] = quantiles_in_leaves(reach, self.targets, self._leaves.shares, levels, shift)
        return found

    def interval(self, p: float = 0.9, *, conformal: bool = False) -> np.ndarray:
        """Compute central intervals that contain the target with probability p.

        Parameters
        ----------
        p : float, default=0.9
            Probability between 0 and 1.
        conformal : bool, default=False
            Whether to make the intervals as wide as targets that are known have shown to be necessary: those of
            `forest.conformalize(X, y)`, with the guarantee that a new target is inside with a probability of at least p
            if the object and these ones are exchangeable; or, with `calibrate=True`, those out of bag, which are close
            to it but without a theorem. p is rounded up to a multiple of 0.005, to 0.9973 or to 0.999; the ends are
            infinite if fewer than p / (1 - p) targets were known.

        Returns
        -------
        ndarray of shape (n, 2)
            Lower and upper ends.
        """
        level = read_probability("p", p)
        if not conformal:
            return self.quantile([(1 - level) / 2, (1 + level) / 2])
        if self._margins is None:
            raise ValueError(
                "conformal=True needs targets that the trees have not seen: call conformalize(X, y) with some before "
                "predict_distribution, or fit a forest with calibrate=True, which takes those out of bag."
            )
        if level > PROBABILITIES[-1]:
            raise ValueError(f"p must not be above {PROBABILITIES[-1]} with conformal=True; got {p!r}.")
        margins = self._margins
        return self._collect(lambda _, piece: conformal_interval(piece, margins, level), 2)

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
        truth = read_truth(y, self.n_objects)
        return self._collect(lambda rows, piece: piece.crps(truth[rows]))

    def cde_loss(self, y: ArrayLike) -> np.ndarray:
        """Compute the loss of conditional densities of every object, ∫ f(t)² dt − 2 f(y); less is better.

        Parameters
        ----------
        y : array-like of shape (n,)
            True targets.

        Returns
        -------
        ndarray of shape (n,)
            The losses, in 1 / the unit of the target; infinite, if all weight is on one target.
        """
        truth = read_truth(y, self.n_objects)

        def of_piece(rows: slice, piece: WeightedTargets) -> np.ndarray:
            square = piece.squared_density
            at_truth = np.where(np.isinf(square), 0.0, piece.pdf(truth[rows, None])[:, 0])
            return square - 2 * at_truth

        return self._collect(of_piece)

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
        places, is_flat = read_places(y, self.n_objects)
        found = self._collect(lambda rows, piece: numbers_of(piece, places[rows]), places.shape[1])
        return found[:, 0] if is_flat else found
