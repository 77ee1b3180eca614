"""Objects that are asked for one tree after the other, as held-out ones are while a model grows."""

import numpy as np

from ..kernels.descend import Block, add_answers_of_blocks, blocks_of
from ..kernels.layout import Cells
from ..kernels.route import has_single_paths
from ..support.threads import in_threads
from .fitted_tree import FEWEST_ANSWERS, FittedTree, sum_of_answers


class FollowedObjects:
    """The objects of a table. Their cells are put into columns once, not for every tree."""

    def __init__(self, query: Cells, keep_proba: float, n_jobs: int | None = None):
        self._query, self._keep_proba, self._n_jobs = query, keep_proba, n_jobs
        self._shares: list[list[Block]] = []  # of threads
        if not has_single_paths(query):
            n_objects = len(query.values)
            for first in range(0, n_objects, FEWEST_ANSWERS):
                self._shares.append(list(blocks_of(query, first, min(first + FEWEST_ANSWERS, n_objects))))

    def answers(self, tree: FittedTree) -> np.ndarray:
        """What a tree that conserves mass says about each of them, (n, k)."""
        if not self._shares:
            return sum_of_answers([tree], self._query, self._keep_proba, n_jobs=self._n_jobs)
        out = np.zeros((len(self._query.values), tree.value.shape[1]))

        def answer(blocks: list[Block]) -> None:
            add_answers_of_blocks(blocks, [tree.nodes], self._keep_proba, out)

        for _ in in_threads(answer, self._shares, self._n_jobs):
            pass
        return out
