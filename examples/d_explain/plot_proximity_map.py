"""
A map of similar objects
========================

Two objects are close if they often end in the same leaf. With errors, this is a probability, and a badly measured
object is a little close to many. A map made of these proximities shows groups, transitions, and objects that belong
nowhere.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.manifold import TSNE

from probforest import ProbabilisticRandomForestClassifier

wines = load_wine()
X_err = np.random.default_rng(0).gamma(1.0, 0.4, wines.data.shape) * wines.data.std(axis=0)
X = np.random.default_rng(1).normal(wines.data, X_err)
forest = ProbabilisticRandomForestClassifier(200, min_samples_leaf=5, random_state=0)
forest.fit(X, wines.target, X_err=X_err)

# %%
# ``proximity`` is a sparse matrix; 1 − proximity is a distance.

proximity = forest.proximity(X, X_err=X_err).toarray()
own = np.sqrt(np.diag(proximity))
distance = 1 - proximity / own / own[:, None]
np.fill_diagonal(distance, 0)
places = TSNE(metric="precomputed", init="random", perplexity=20, random_state=0).fit_transform(distance.clip(0))

# %%
# The less sure the forest is of an object, the larger its point: transitions lie between the groups.

proba = forest.predict_proba(X, X_err=X_err)
doubt = -np.sum(proba * np.log2(proba.clip(1e-12)), axis=1)
figure, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
for kind, colour in enumerate(("#0072B2", "#D55E00", "#009E73")):
    mine = wines.target == kind
    ax.scatter(*places[mine].T, s=10 + 110 * doubt[mine], color=colour, alpha=0.6, label=f"wine {kind}", linewidth=0)
ax.set(xticks=[], yticks=[], title="178 wines, large points: doubtful ones")
ax.legend(markerscale=0.7)
plt.show()
