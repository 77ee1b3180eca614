"""
Asymmetric errors and upper limits
==================================

A flux that was not detected is not missing: it is known to be below a limit. Here is what a forest makes of three
kinds of values, and what it costs to throw limits away.
"""

import matplotlib.pyplot as plt
import numpy as np

from probforest import ProbabilisticRandomForestClassifier

random = np.random.default_rng(0)
n = 2000
y = random.integers(0, 2, n)  # 1: an active galaxy, with more X-rays
flux = np.column_stack([random.lognormal(0.9 * y, 0.8), random.lognormal(0.0, 0.6, n), random.lognormal(0.5 * y, 0.9)])
lower, upper = 0.15 * flux, 0.35 * flux  # errors are larger upwards
measured = flux + np.where(random.random(flux.shape) < 0.5, -1, 1) * np.abs(random.normal(0, 0.2 * flux))
limits = np.where(measured < 1.0, 1, 0)  # 1: an upper limit
measured = np.where(limits == 1, 1.0, measured)
print(f"{limits.mean():.0%} of the fluxes are upper limits")

# %%
# ``X_err=(lower, upper)`` are errors on both sides, and ``X_limit`` says which values are limits. A limit spreads an
# object over the values of the training set below it.

train, test = slice(0, 1000), slice(1000, None)
as_holes = np.where(limits == 1, np.nan, measured)


def accuracy(X, **known):
    """Accuracy on the test half of a forest that was fitted to the other half."""
    forest = ProbabilisticRandomForestClassifier(100, min_samples_leaf=5, missing="observed", random_state=0)
    forest.fit(
        X[train], y[train], X_err=(lower[train], upper[train]), **{name: it[train] for name, it in known.items()}
    )
    return forest.score(
        X[test], y[test], X_err=(lower[test], upper[test]), **{name: it[test] for name, it in known.items()}
    )


scores = {
    "non-detections\nleft empty": accuracy(as_holes),
    "limits given\nas limits": accuracy(measured, X_limit=limits),
}
print(scores)

# %%
# Left: the distribution that stands for a detection with asymmetric errors, and for a limit. Right: what the limits
# are worth.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1.6, 1], layout="constrained")
x = np.linspace(0, 5, 500)
side = np.where(x < 2.5, 0.375, 0.875)
left.fill_between(x, np.exp(-(((x - 2.5) / side) ** 2) / 2) / side, alpha=0.5, label="detected: 2.5 −0.4 +0.9")
below = np.histogram(flux[flux < 1], bins=20, range=(0, 1), density=True)[0]
left.stairs(below, np.linspace(0, 1, 21), fill=True, alpha=0.5, color="#D55E00", label="upper limit: below 1")
left.axvline(1, color="black", linestyle="--", linewidth=1)
left.set(xlabel="flux", yticks=[], ylabel="probability density")
left.legend()
bars = right.bar(list(scores), list(scores.values()), color=["#999999", "#0072B2"], width=0.6)
right.bar_label(bars, fmt="%.3f")
right.set(ylim=(0.6, 0.9), ylabel="accuracy")
plt.show()
