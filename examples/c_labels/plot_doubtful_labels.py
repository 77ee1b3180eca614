"""
Learning from doubtful labels
=============================

Classes by eye, by citizen scientists or by another algorithm are often wrong, but we have an idea how often. Give the
forest the probability of each label, and it learns from all of them, each as far as it can be trusted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import flip_labels, make_two_classes

X, y = make_two_classes(4000, random_state=0)
train, test = slice(0, 2000), slice(2000, None)
random = np.random.default_rng(0)

# %%
# A tenth of the labels is certain; the others are wrong with a probability that we know.

shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.45]
scores = {"takes labels as they are": [], "knows their probabilities": []}
for share in shares:
    wrong = np.where(random.random(2000) < 0.1, 0.0, share)
    labels = flip_labels(y[train], wrong, random_state=1)
    plain = RandomForestClassifier(60, random_state=0).fit(X[train], labels.y)
    forest = ProbabilisticRandomForestClassifier(60, random_state=0).fit(X[train], labels.y, y_proba=labels.confidence)
    for name, model in zip(scores, (plain, forest), strict=True):
        proba = model.predict_proba(X[test])
        scores[name].append((model.score(X[test], y[test]), log_loss(y[test], proba.clip(1e-3, 1 - 1e-3))))

# %%
# The accuracy is that for the *true* classes, and the answers are probabilities of the true classes, too: the log loss
# on the right (smaller is better) shows that they stay honest.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for number, (ax, words) in enumerate(zip(axes, ("accuracy", "log loss"), strict=True)):
    for (name, values), colour in zip(scores.items(), ("#999999", "#0072B2"), strict=True):
        ax.plot(shares, [value[number] for value in values], "o-", color=colour, label=name)
    ax.set(xlabel="probability that a doubtful label is wrong", ylabel=words)
axes[0].legend()
plt.show()
