"""
Intervals that widen with the errors
====================================

A regression forest of scikit-learn gives the same number whether a feature is known to 1 % or not at all. Here the
interval of an object grows with its own errors, and conformal intervals contain the target as often as they promise.
"""

import matplotlib.pyplot as plt
import numpy as np

from probforest import ProbabilisticRandomForestRegressor

random = np.random.default_rng(0)
n = 3000
truth = random.uniform(0, 10, n)
y = truth * np.sin(truth) / 2 + random.normal(0, 0.3, n)
X_err = random.choice([0.05, 0.6], n)[:, None]
X = random.normal(truth[:, None], X_err)
train, kept, new = slice(0, 1500), slice(1500, 2500), slice(2500, None)

forest = ProbabilisticRandomForestRegressor(100, min_samples_leaf=5, random_state=0)
forest.fit(X[train], y[train], X_err=X_err[train])
forest.conformalize(X[kept], y[kept], X_err=X_err[kept])
answer = forest.predict_distribution(X[new], X_err=X_err[new])
low, high = answer.interval(0.9, conformal=True).T
inside = (low <= y[new]) & (y[new] <= high)
print(f"{inside.mean():.1%} of the targets lie in the 90 % intervals")

# %%
# The same forest, asked about well and about badly measured objects.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
grid = np.linspace(0.2, 9.8, 200)
for ax, error in zip(axes, (0.05, 0.6), strict=True):
    answer = forest.predict_distribution(grid[:, None], X_err=error)
    low, high = answer.interval(0.9, conformal=True).T
    mine = X_err[new][:, 0] == error
    ax.scatter(X[new][mine], y[new][mine], s=5, color="#999999", label="new objects")
    ax.plot(grid, answer.median, color="#0072B2", label="median")
    ax.fill_between(grid, low, high, color="#0072B2", alpha=0.25, linewidth=0, label="90 % interval")
    share = inside[mine].mean()
    ax.set(xlabel="feature as measured", title=f"error of the feature {error}: {share:.0%} inside")
axes[0].set_ylabel("target")
axes[0].legend(loc="lower left")
plt.show()

# %%
# The guarantee is one for all objects together: 90 %. Well-measured objects are covered a little more often, badly
# measured ones a little less.
