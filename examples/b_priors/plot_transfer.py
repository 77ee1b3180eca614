"""
From one survey to the next
===========================

The training set comes from a deep survey, the objects to classify from a shallow one: the same objects, but much
larger errors, and not in the same bands. An ordinary forest never saw such noise.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes

truth, y = make_two_classes(3000, random_state=3)
train, test = slice(0, 1500), slice(1500, None)
deep = add_noise(truth[train], 0.3, random_state=0)

# %%
# Fit each model once, to the deep survey.

models = {
    "RandomForest": RandomForestClassifier(100, random_state=0).fit(deep.X, y[train]),
    "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0).fit(deep.X, y[train]),
}
for prior in (None, "joint"):
    forest = ProbabilisticRandomForestClassifier(100, prior=prior, random_state=0)
    models[f"probforest, prior={prior!r}"] = forest.fit(deep.X, y[train], X_err=deep.X_err)

# %%
# Ask all of them about shallower and shallower surveys. probforest warns that errors are far outside those of its
# training set, which is what we want here.

warnings.simplefilter("ignore")
levels = [0.3, 1, 2, 3, 5]
scores = {name: [] for name in models}
for level in levels:
    shallow = add_noise(truth[test], level, case="cells", random_state=1)
    for name, model in models.items():
        given = {"X_err": shallow.X_err} if "probforest" in name else {}
        scores[name].append(model.score(shallow.X, y[test], **given))

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
styles = {"RandomForest": ("#999999", "o--"), "HistGradientBoosting": ("#E69F00", "s--")}
for name, values in scores.items():
    colour, marker = styles.get(name, ("#0072B2" if "joint" in name else "#56B4E9", "o-"))
    ax.plot(levels, values, marker, color=colour, label=name)
ax.set(xlabel="largest error in the shallow survey, in standard deviations of the feature", ylabel="accuracy")
ax.legend()
plt.show()
print({name: np.round(values, 3).tolist() for name, values in scores.items()})
