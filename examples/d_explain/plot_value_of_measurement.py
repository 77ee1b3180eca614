"""
Which measurement is worth repeating?
=====================================

Telescope time is short. For every doubtful object, the forest says how much surer its answer would be if one of its
values were known exactly: which object to observe again, and in which band.
"""

import matplotlib.pyplot as plt
import numpy as np

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import make_two_classes

truth, y = make_two_classes(1700, random_state=1)
truth = truth[:, :8]
random = np.random.default_rng(0)
X_err = 0.2 * np.ones(truth.shape) * truth.std(axis=0)
bad = random.integers(0, 8, len(y))  # one value of each object went wrong
X_err[np.arange(len(y)), bad] *= 12
X = random.normal(truth, X_err)
train, new = slice(0, 1500), slice(1500, None)
forest = ProbabilisticRandomForestClassifier(60, prior="empirical", random_state=0)
forest.fit(X[train], y[train], X_err=X_err[train])

# %%
# The measurements that are worth most in a list of 200 new objects, and the first of them in words.

value = forest.value_of_measurement(X[new], X_err=X_err[new])
for measurement in value.ranking(5):
    print(f"object {measurement.row:3}, {measurement.name}: {measurement.gain:.2f} bits expected")
print(value.text(value.ranking(1)[0].row))

# %%
# Is the forecast right? Here we know the truth, so we can measure again: replace the most worthwhile value of each
# object by its true one, and compare the entropy of the answers before and after.


def entropy(proba):
    """Of each answer, in bits."""
    return -np.sum(proba * np.log2(proba.clip(1e-12)), axis=1)


rows, best = np.arange(200), value.gain.argmax(axis=1)
again, again_err = X[new].copy(), X_err[new].copy()
again[rows, best], again_err[rows, best] = truth[new][rows, best], 0.0
gained = entropy(forest.predict_proba(X[new], X_err=X_err[new])) - entropy(forest.predict_proba(again, X_err=again_err))
expected = value.gain.max(axis=1)
print(f"expected {expected.mean():.3f} bits per object, gained {gained.mean():.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), width_ratios=[1.4, 1], layout="constrained")
order = expected.argsort()[::-1][:40]
picture = left.imshow(value.gain[order].T, aspect="auto", cmap="viridis", vmin=0)
left.plot(np.arange(40), bad[new][order], "x", color="white")
left.set(
    title="×: the value with the large error",
    xlabel="40 objects, the most worthwhile first",
    ylabel="feature",
    yticks=range(8),
)
figure.colorbar(picture, ax=left, label="expected gain [bits]")
groups = np.array_split(expected.argsort(), 6)
right.plot([0, 0.5], [0, 0.5], color="black", linewidth=0.8, linestyle=":")
right.scatter(expected, gained, s=8, color="#bbbbbb", label="objects")
right.errorbar(
    [expected[group].mean() for group in groups],
    [gained[group].mean() for group in groups],
    [gained[group].std() / np.sqrt(len(group)) for group in groups],
    fmt="o",
    color="#0072B2",
    label="means of groups",
)
right.set(xlabel="gain that was expected [bits]", ylabel="gain when it was measured again", ylim=(-0.6, 1))
right.legend()
plt.show()
