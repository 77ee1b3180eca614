"""
One tree, and the two ways of an object
=======================================

A tree that was grown on irises whose petals were measured with a bad ruler. An iris near a threshold goes down both
branches, each with the probability that its true value lies there: the width of the lines.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from probforest import ProbabilisticDecisionTreeClassifier
from probforest.explain import decision_paths, plot_tree

irises = load_iris(as_frame=True)
X_err = np.tile([0.2, 0.2, 0.4, 0.2], (150, 1))  # in cm
X = irises.data + np.random.default_rng(0).normal(0, X_err)
y = irises.target_names[irises.target]

tree = ProbabilisticDecisionTreeClassifier(max_depth=2, min_samples_leaf=5, random_state=0)
tree.fit(X, y, X_err=X_err)

# %%
# Number 77 is between two species. Its paths in words:

row = slice(77, 78)
for path in decision_paths(tree, X[row], X_err=X_err[row], most=4)[0]:
    print(f"{path.probability:.2f}  {path.conditions}")
for name, proba in zip(tree.classes_, tree.predict_proba(X[row], X_err=X_err[row])[0], strict=True):
    print(f"{name:10} {proba:.2f}")

# %%
# And as a drawing:

figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
plot_tree(tree, X=X[row], X_err=X_err[row], ax=ax)
plt.show()
