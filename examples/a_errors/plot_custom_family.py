"""
A noise distribution of your own
================================

Errors are not always normal. Photon counts scatter like a Poisson distribution, some pipelines produce long tails.
Any distribution with a mean and a standard deviation can take the place of the normal one: a name, a distribution of
SciPy, or two functions.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import laplace, norm, rayleigh

from probforest import ProbabilisticRandomForestClassifier
from probforest.families import Family

# %%
# A family is its F and the inverse of it, with mean 0 and standard deviation 1. Here is one with two peaks: the
# pipeline sometimes takes the wrong one of two lines, and is off by two units to either side.


def two_lines_cdf(z):
    """Uniform on [-1.3, -0.5] and on [0.5, 1.3], scaled to a standard deviation of 1."""
    z = np.asarray(z) * SPREAD
    return np.interp(z, [-1.3, -0.5, 0.5, 1.3], [0, 0.5, 0.5, 1])


def two_lines_ppf(p):
    return np.interp(p, [0, 0.5, 0.5 + 1e-12, 1], [-1.3, -0.5, 0.5, 1.3]) / SPREAD


SPREAD = np.sqrt((1.3**3 - 0.5**3) / 3 / 0.8)
two_lines = Family("two lines", two_lines_cdf, two_lines_ppf)

# %%
# Data with this noise. A forest that knows the shape of the noise is better than one that takes it as normal.

random = np.random.default_rng(0)
n = 3000
y = random.integers(0, 2, n)
truth = random.normal(1.2 * y[:, None], 0.5, (n, 4))
X_err = random.uniform(0.3, 2.0, truth.shape)
X = truth + X_err * two_lines_ppf(random.random(truth.shape))
train, test = slice(0, 1500), slice(1500, None)
scores = {}
for name, distribution in {"normal": "normal", "Laplace": "laplace", "two lines": two_lines}.items():
    forest = ProbabilisticRandomForestClassifier(100, distribution=distribution, min_samples_leaf=5, random_state=0)
    forest.fit(X[train], y[train], X_err=X_err[train])
    scores[name] = forest.score(X[test], y[test], X_err=X_err[test])
    print(f"{name:10} {scores[name]:.3f}")

# %%
# F of some families. A distribution of SciPy is shifted and scaled by itself: ``distribution=rayleigh()``.

forest.set_params(distribution=rayleigh()).fit(X[train], y[train], X_err=X_err[train])
z = np.linspace(-3, 3, 400)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), width_ratios=[1.5, 1], layout="constrained")
left.plot(z, two_lines_cdf(z), color="#D55E00", linewidth=2, label="two lines")
left.plot(z, rayleigh.cdf(z * rayleigh.std() + rayleigh.mean()), color="#009E73", label="Rayleigh, from SciPy")
left.plot(z, norm.cdf(z), color="#0072B2", label="normal")
left.plot(z, laplace.cdf(z * np.sqrt(2)), color="#999999", label="Laplace")
left.set(xlabel="(true value − measured value) / error", ylabel="F")
left.legend()
bars = right.bar(list(scores), list(scores.values()), color=["#0072B2", "#999999", "#D55E00"])
right.bar_label(bars, fmt="%.3f")
right.set(ylim=(0.5, 1), ylabel="accuracy")
plt.show()
