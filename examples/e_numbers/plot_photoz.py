"""
Photometric redshifts with distributions
========================================

A redshift from five magnitudes is not a number but a distribution, sometimes with two peaks. The forest returns one
for every galaxy, and a histogram of their PIT values shows whether they are right.
"""

import matplotlib.pyplot as plt
import numpy as np

from probforest import ProbabilisticRandomForestRegressor
from probforest.metrics import coverage, outlier_rate, plot_pit, sigma_nmad

# %%
# Made-up galaxies: a break in the spectrum moves through five bands as the redshift grows, so that colours depend on
# it.

random = np.random.default_rng(0)
n = 4000
z = random.gamma(4, 0.15, n).clip(0.02, 1.8)
bands = np.array([0.36, 0.48, 0.62, 0.76, 0.90])  # micrometres
break_at = 0.40 * (1 + z)
step = 1 / (1 + np.exp((bands - break_at[:, None]) / 0.03))  # 1 where the band is below the break
slope = random.normal(1.0, 0.4, (n, 1)) * (0.62 - bands)
true_mags = 18 + 4 * np.log10(1 + 5 * z)[:, None] + random.normal(0, 0.6, (n, 1)) + 1.3 * step + slope
mag_err = 0.02 + 0.05 * 10 ** (0.35 * (true_mags - 22)) * random.uniform(0.6, 1.4, (n, 5))
mags = random.normal(true_mags, mag_err)
X = np.column_stack([mags, mags[:, :-1] - mags[:, 1:]])  # magnitudes and colours
X_err = np.column_stack([mag_err, np.hypot(mag_err[:, :-1], mag_err[:, 1:])])
train, test = slice(0, 2500), slice(2500, None)

# %%
# ``calibrate=True`` corrects the distributions by out-of-bag galaxies.

forest = ProbabilisticRandomForestRegressor(100, min_samples_leaf=3, calibrate=True, random_state=0)
forest.fit(X[train], z[train], X_err=X_err[train])
answer = forest.predict_distribution(X[test], X_err=X_err[test])
median = answer.median
print(f"scatter (NMAD) {sigma_nmad(z[test], median):.4f}, outliers {outlier_rate(z[test], median, 0.15):.1%}")
for share in (0.68, 0.95):
    print(f"{share:.0%} intervals contain {coverage(z[test], answer, share):.1%} of the redshifts")

# %%
# Three distributions (the sharpest one, the sharpest one of a distant galaxy, and the widest one), all galaxies, and
# the PIT histogram: flat within the grey range if the distributions are right.

low, high = answer.interval(0.68).T
size = mag_err[test][:, 2]
width, far = high - low, z[test] > 0.9
shown = [int(width.argmin()), int(np.where(far, width, np.inf).argmin()), int(width.argmax())]
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
places = np.linspace(0, 1.8, 400)
for i, colour in zip(shown, ("#0072B2", "#009E73", "#D55E00"), strict=True):
    density = answer[[i]].pdf(places[None])[0]
    axes[0].fill_between(places, density / density.max(), alpha=0.4, color=colour, linewidth=0)
    axes[0].axvline(
        z[test][i], ymax=0.7, color=colour, linestyle="--", label=f"r = {mags[test][i, 2]:.1f} ± {size[i]:.2f}"
    )
axes[0].set(xlabel="redshift (dashed: the true one)", yticks=[], title="distributions of three galaxies")
axes[0].set_ylim(0, 1.5)
axes[0].legend(fontsize=8, loc="upper right")
axes[1].plot([0, 1.8], [0, 1.8], color="black", linewidth=0.8)
points = axes[1].scatter(z[test], median, c=width, s=5, cmap="viridis", vmax=0.6)
axes[1].set(xlabel="true redshift", ylabel="median", xlim=(0, 1.8), ylim=(0, 1.8), aspect="equal")
figure.colorbar(points, ax=axes[1], label="width of the 68 % interval")
plot_pit(z[test], answer, ax=axes[2])
plt.show()
