"""
Missing values: by chance, or for a reason
==========================================

If a value is missing by chance, an object should be averaged over what the value could have been. If it is missing
for a reason (nobody takes a spectrum of a boring star), the hole itself says something. ``missing="auto"`` tells both
cases apart, feature by feature.
"""

import matplotlib.pyplot as plt
import numpy as np

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes

truth, y = make_two_classes(2000, random_state=0)
X, X_err = add_noise(truth, 1, random_state=1)
random = np.random.default_rng(2)
train, test = slice(0, 1000), slice(1000, None)

# %%
# Two tables with as many holes. In the second one, half of the features are missing mostly for class 0.

by_chance, for_a_reason = X.copy(), X.copy()
by_chance[random.random(X.shape) < 0.4] = np.nan
chance = np.where(np.arange(15) % 2 == 0, 0.4, np.where(y == 0, 0.55, 0.25)[:, None])
for_a_reason[random.random(X.shape) < chance] = np.nan

rules = {
    "observed": {"missing": "observed", "prior": "empirical"},
    "learned": {"missing": "learned", "prior": "empirical"},
    "auto": {"missing": "auto", "prior": "empirical"},
    "auto,\njoint prior": {"missing": "auto", "prior": "joint"},
}
scores = {}
for name, table in {"by chance": by_chance, "for a reason": for_a_reason}.items():
    for rule, parameters in rules.items():
        forest = ProbabilisticRandomForestClassifier(60, random_state=0, **parameters)
        forest.fit(table[train], y[train], X_err=X_err[train])
        scores[name, rule] = forest.score(table[test], y[test], X_err=X_err[test])
    print(name, "->", dict(zip(*np.unique(forest.missing_, return_counts=True), strict=True)))

# %%
# With the joint prior, holes are also estimated from the other values of the object.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, name in zip(axes, ("by chance", "for a reason"), strict=True):
    bars = ax.bar(
        list(rules), [scores[name, rule] for rule in rules], color=["#999999", "#999999", "#56B4E9", "#0072B2"]
    )
    ax.bar_label(bars, fmt="%.3f")
    ax.set(title=f"40 % of the values are missing {name}", ylim=(0.7, 1.0))
axes[0].set_ylabel("accuracy")
plt.show()
