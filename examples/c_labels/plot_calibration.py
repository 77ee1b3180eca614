"""
Can the probabilities be trusted?
=================================

Of all objects that are stars "with 80 %", about 80 % should be stars. A reliability diagram shows whether this is so,
here for well and for badly measured objects.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier

from probforest import ProbabilisticGradientBoostingClassifier, ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes

truth, y = make_two_classes(5000, random_state=0)
X, X_err = add_noise(truth, 3, random_state=1)
train, test = slice(0, 2000), slice(2000, None)

answers = {
    "scikit-learn's forest": RandomForestClassifier(100, random_state=0).fit(X[train], y[train]).predict_proba(X[test])
}
for name, model in {
    "forest": ProbabilisticRandomForestClassifier(100, random_state=0),
    "boosting": ProbabilisticGradientBoostingClassifier(random_state=0),
}.items():
    answers[name] = model.fit(X[train], y[train], X_err=X_err[train]).predict_proba(X[test], X_err=X_err[test])

# %%
# The size of an object's errors, compared with the others: the half with the smaller errors, and the rest.

size = np.median(X_err[test] / np.median(X_err[train], axis=0), axis=1)
halves = {"well measured": size < np.median(size), "badly measured": size >= np.median(size)}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), sharey=True, layout="constrained")
for ax, (title, half) in zip(axes, halves.items(), strict=True):
    ax.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
    for (name, proba), colour in zip(answers.items(), ("#999999", "#0072B2", "#D55E00"), strict=True):
        shares, means = calibration_curve(y[test][half], proba[half, 1], n_bins=10)
        ax.plot(means, shares, "o-", color=colour, label=name, markersize=4)
    ax.set(title=title, xlabel="probability that was predicted", aspect="equal")
axes[0].set_ylabel("share that was right")
axes[0].legend()
plt.show()

# %%
# A curve that is steeper than the diagonal is too cautious: objects that it gives 80 % are right more often than that.
# An average of trees is always a little cautious, most of all the forest that cannot tell good objects from bad ones.
# Boosting fits the probabilities themselves, and stays closest to the diagonal in both halves.
