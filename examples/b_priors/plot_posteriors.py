"""
What a prior makes of a noisy table
===================================

The colours of an object depend on each other. A badly measured value can be read off the others, once the relation
between them is known; it is learnt from the noisy table itself. Here we look at the table before and after.
"""

import matplotlib.pyplot as plt
import numpy as np

from probforest import ProbabilisticRandomForestClassifier

random = np.random.default_rng(0)
n = 1500
age = random.uniform(0, 1, n)
truth = np.column_stack([np.sin(3 * age), np.cos(3 * age), age, age**2]) + random.normal(0, 0.05, (n, 4))
y = (age > 0.5).astype(int)
X_err = random.gamma(1.0, 0.35, truth.shape)
X = random.normal(truth, X_err)

# %%
# ``posterior`` returns the median of every value, and its errors, given the prior of the model.

found = {}
for prior in ("empirical", "joint"):
    forest = ProbabilisticRandomForestClassifier(5, prior=prior, random_state=0).fit(X, y, X_err=X_err)
    found[prior] = forest.posterior(X, X_err=X_err)
    print(f"{prior:10} typical distance from the truth {np.sqrt(np.mean((found[prior].center - truth) ** 2)):.3f}")
print(f"{'measured':10} typical distance from the truth {np.sqrt(np.mean((X - truth) ** 2)):.3f}")

# %%
# The true values lie on a curve (black). Measured values are all over the place; a prior for each feature alone draws
# them together; the joint prior finds the curve.

panels = {
    "as measured": X,
    "each feature on its own": found["empirical"].center,
    "joint prior": found["joint"].center,
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), sharex=True, sharey=True, layout="constrained")
curve = np.linspace(0, 1, 100)
for ax, (title, values) in zip(axes, panels.items(), strict=True):
    ax.scatter(values[:, 0], values[:, 1], c=age, s=5, cmap="viridis")
    ax.plot(np.sin(3 * curve), np.cos(3 * curve), color="black", linewidth=1)
    ax.set(title=title, xlim=(-1.2, 2.2), ylim=(-2.2, 2.2), xlabel="feature 0")
axes[0].set_ylabel("feature 1")
plt.show()
