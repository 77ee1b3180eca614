"""
Boosting against forest
=======================

The same trees, put together in two ways. A forest cannot be overdone: more trees only make it steadier. Boosting goes
on to follow the training set, noise and all, and has a best number of iterations.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from probforest import ProbabilisticGradientBoostingClassifier, ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes

truth, y = make_two_classes(4000, random_state=0)
train, test = slice(0, 2000), slice(2000, None)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, level in zip(axes, (0.5, 3), strict=True):
    X, X_err = add_noise(truth, level, random_state=1)
    boosting = ProbabilisticGradientBoostingClassifier(
        max_iter=200, learning_rate=0.3, prior="empirical", random_state=0
    )
    boosting.fit(X[train], y[train], X_err=X_err[train])
    stages = boosting.staged_predict_proba(X[test], X_err=X_err[test])
    losses = [log_loss(y[test], proba) for proba in stages]
    forest = ProbabilisticRandomForestClassifier(prior="empirical", random_state=0, warm_start=True)
    numbers, of_forest = (5, 10, 20, 50, 100, 200), []
    for n_trees in numbers:
        forest.set_params(n_estimators=n_trees).fit(X[train], y[train], X_err=X_err[train])
        of_forest.append(log_loss(y[test], forest.predict_proba(X[test], X_err=X_err[test])))
    ax.plot(np.arange(1, len(losses) + 1), losses, color="#D55E00", label="boosting, by iterations")
    ax.plot(numbers, of_forest, "o-", color="#0072B2", label="forest, by trees")
    best = int(np.argmin(losses))
    ax.plot(best + 1, losses[best], "v", color="black")
    ax.annotate(f"best after {best + 1}", (best + 1, losses[best]), (0, -16), textcoords="offset points", ha="center")
    ax.set(xlabel="trees", ylabel="log loss on new objects", title=f"errors of up to {level} standard deviations")
    ax.margins(y=0.15)
axes[0].legend()
plt.show()

# %%
# ``early_stopping=True`` finds the best number by itself, with a tenth of the training set.

boosting.set_params(early_stopping=True, max_iter=300).fit(X[train], y[train], X_err=X_err[train])
print(boosting.n_iter_, "iterations")
