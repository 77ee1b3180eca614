"""
Where error bars pay
====================

Four kinds of noise, and two forests: one ignores the error bars, one uses them. A forest that knows the errors gains in
two ways. It trusts good values more than bad ones, and it corrects a bad value by the other values of the same object,
which helps even where all objects have the same errors.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes

truth, y = make_two_classes(3000, random_state=0)
train, test = slice(0, 1500), slice(1500, None)

# %%
# The cases come from :func:`probforest.datasets.add_noise`: one error for all values, one per object × feature, other
# noisy features in each of two groups of objects, and an error of its own for each value.

cases = {"constant": 0.7, "objects": 3, "groups": 3, "cells": 2}
gains = {}
tables = {case: add_noise(truth, level, case=case, random_state=1) for case, level in cases.items()}
for case, (X, X_err) in tables.items():
    plain = RandomForestClassifier(60, random_state=0).fit(X[train], y[train])
    forest = ProbabilisticRandomForestClassifier(60, random_state=0).fit(X[train], y[train], X_err=X_err[train])
    gains[case] = plain.score(X[test], y[test]), forest.score(X[test], y[test], X_err=X_err[test])
    print(f"{case:10} {gains[case][0]:.3f} without, {gains[case][1]:.3f} with errors")

# %%
# The errors of 40 objects (rows) and 15 features (columns) in each case, and the accuracies below.

figure, axes = plt.subplots(2, 4, figsize=(10, 6), height_ratios=[1.4, 1], layout="constrained")
for (case, table), above, below in zip(tables.items(), *axes, strict=True):
    shown = table.X_err[np.argsort(table.X_err.mean(axis=1))][:: len(y) // 40]
    above.imshow(shown / shown.max(), aspect="auto", cmap="magma_r", vmin=0)
    above.set(title=f'case="{case}"', xticks=[], yticks=[])
    bars = below.bar(["no errors", "errors"], gains[case], color=["#999999", "#0072B2"])
    below.bar_label(bars, fmt="%.3f")
    below.set(ylim=(0.6, 0.9), yticks=[])
axes[0, 0].set_ylabel("40 objects (rows), 15 features")
axes[1, 0].set_ylabel("accuracy")
plt.show()
