"""
What each feature adds to an answer
===================================

On its way through the trees, an object's answer changes from the average to what it is in the end. Each step belongs
to a feature. The sum of these contributions is the answer, exactly, with all errors in account.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from probforest import ProbabilisticRandomForestClassifier
from probforest.explain import ContributionDisplay

data = load_breast_cancer(as_frame=True)
X = data.data.iloc[:, :10].rename(columns=lambda name: name.removeprefix("mean "))
X_err = data.data.iloc[:, 10:20].to_numpy()
y = data.target_names[data.target]
forest = ProbabilisticRandomForestClassifier(100, random_state=0).fit(X[100:], y[100:], X_err=X_err[100:])

# %%
# The most doubtful of the first hundred tumours, in words:

why = forest.contributions(X[:100], X_err=X_err[:100])
proba = forest.predict_proba(X[:100], X_err=X_err[:100])
row = int(np.abs(proba[:, 0] - 0.5).argmin())
print(why.text(row))
print("base + contributions = answer:", np.allclose(why.base + why.values.sum(axis=1), proba))

# %%
# As a waterfall, from the average at the top to the answer at the bottom; and what features add in all hundred
# objects.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
ContributionDisplay.from_estimator(forest, X[:100], X_err=X_err[:100], row=row, ax=left)
malignant = why.values[:, :, 1]
order = np.abs(malignant).mean(axis=0).argsort()
for place, j in enumerate(order):
    spread = np.random.default_rng(j).uniform(-0.25, 0.25, 100)
    points = right.scatter(malignant[:, j], place + spread, c=X.iloc[:100, j].rank(), cmap="coolwarm", s=9)
right.set(yticks=range(10), yticklabels=X.columns[order], xlabel='added to the probability of "malignant"')
right.axvline(0, color="black", linewidth=0.8)
figure.colorbar(points, ax=right, label="value, from small to large", ticks=[])
plt.show()
