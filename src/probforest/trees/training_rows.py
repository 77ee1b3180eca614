"""Some rows of a training set, rows of several pieces of one put together, and its arrays by name.

A training set is cut into pieces if it is too large for the memory, or for one machine. Whatever the pieces, the rows
that a tree has drawn are the same, in the same order, and so is the tree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..features.binning import with_codes
from ..inputs.labels import LabelTable
from ..inputs.targets import NumberTable
from ..kernels.cdf import TABLE_STEPS
from ..kernels.layout import FREE_STEPS, OWN_TABLE, Cells
from .label_truth import DoubtfulLabels
from .training_set import TrainingSet

_FORM = FREE_STEPS + 1  # numbers in such a table


def drawn_rows(piece: TrainingSet, rows: np.ndarray, counts: np.ndarray) -> TrainingSet:
    """The objects of a piece that were drawn, with their weights in this draw."""
    taken = take_rows(piece, rows)
    return replace(taken, weight=taken.weight * counts)


def take_rows(training: TrainingSet, rows: np.ndarray) -> TrainingSet:
    """Some objects of a training set, by their numbers."""
    parts = {name: np.asarray(array)[rows] for name, array in arrays_of(training).items() if name != "forms"}
    cells = training.cells
    if cells.values.shape[2] > OWN_TABLE:
        parts["cells"], parts["forms"] = _with_own_forms(parts["cells"], np.asarray(cells.table), _base(cells))
    return with_arrays(training, parts)


def join_rows(parts: Sequence[TrainingSet]) -> TrainingSet:
    """The objects of several pieces of a training set, one piece after the other."""
    arrays = [arrays_of(part) for part in parts]
    together = {name: np.concatenate([each[name] for each in arrays]) for name in arrays[0]}
    if "forms" in together:
        n_before = np.cumsum([0] + [len(each["forms"]) for each in arrays[:-1]])
        own = together["cells"][:, :, OWN_TABLE]
        offset = np.repeat(n_before * _FORM, [len(each["cells"]) for each in arrays])
        own += np.where(own >= 0, offset[:, None], 0)
    frame = parts[0]
    complete = all(part.cells.complete for part in parts)
    return with_arrays(replace(frame, cells=frame.cells._replace(complete=complete)), together)


def arrays_of(training: TrainingSet) -> dict[str, np.ndarray]:
    """Everything that has a row per object, and the tables of cells without a family."""
    arrays = {"cells": training.cells.values, "codes": training.bins.codes, "weight": training.weight}
    labels = training.labels
    if isinstance(labels, NumberTable):
        arrays["y"] = labels.y
    else:
        arrays["class_index"] = labels.class_index
        if labels.pmf is not None:
            arrays["pmf"] = labels.pmf
    if training.doubt is not None:
        doubt = training.doubt
        arrays |= {"doubt_pmf": doubt.pmf, "doubt_weight": doubt.weight, "information": doubt.information}
    if training.cells.values.shape[2] > OWN_TABLE:
        arrays["forms"] = training.cells.table[_base(training.cells) :].reshape(-1, _FORM)
    return arrays


def with_arrays(frame: TrainingSet, arrays: Mapping[str, np.ndarray]) -> TrainingSet:
    """A training set of other objects; all that has no row per object is that of `frame`."""
    labels: LabelTable | NumberTable
    if isinstance(frame.labels, NumberTable):
        labels = NumberTable(arrays["y"], frame.labels.center, frame.labels.scale)
    else:
        labels = LabelTable(frame.labels.classes, arrays["class_index"], arrays.get("pmf"))
    doubt = frame.doubt
    if doubt is not None:
        rows = arrays["doubt_pmf"], arrays["doubt_weight"], arrays["information"]
        doubt = DoubtfulLabels(*rows, doubt.class_weight, doubt.wanted_class_weight)
    cells = frame.cells._replace(values=arrays["cells"])
    if "forms" in arrays:
        base = np.asarray(cells.table[: _base(frame.cells)])
        cells = cells._replace(table=np.concatenate([base, np.ravel(arrays["forms"])]))
    return replace(
        frame,
        kept=np.ones(len(arrays["weight"]), dtype=bool),
        cells=cells,
        bins=with_codes(frame.bins, arrays["codes"]),
        labels=labels,
        target=labels.for_kernels(),
        weight=arrays["weight"],
        doubt=doubt,
    )


def _base(cells: Cells) -> int:
    """Length of the tables of families, behind which those of cells without a family begin."""
    return int(cells.start.max()) + TABLE_STEPS + 1


def _with_own_forms(values: np.ndarray, table: np.ndarray, base: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells (m, d, 4) that refer to their own tables only, and these tables (n_free, FREE_STEPS + 1)."""
    own = values[:, :, OWN_TABLE]
    free = own >= 0
    begin = own[free].astype(np.int64)
    forms = table[begin[:, None] + np.arange(_FORM)] if len(begin) else np.empty((0, _FORM))
    own[free] = base + _FORM * np.arange(len(begin))
    return values, forms
