"""
A FITS table with units and asymmetric errors
=============================================

Archives deliver FITS tables with units and with errors in columns of their own. A forest reads the whole table: it
recognises the errors by their names, and converts units when the next table has others.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from astropy import units as u
from astropy.table import QTable, Table

from probforest import ProbabilisticRandomForestClassifier

# %%
# A table as an archive would have it: planets and false alarms, with ``_err1`` for upper and ``_err2`` for (negative)
# lower errors.

random = np.random.default_rng(0)
n = 1500
is_planet = random.random(n) < 0.5
period = random.lognormal(np.where(is_planet, 2.6, 1.5), 1.0)
depth = random.lognormal(np.where(is_planet, 6.0, 7.2), 0.9)
table = QTable()
for name, truth, unit in (("period", period, u.day), ("depth", depth, u.dimensionless_unscaled)):
    errors = truth * random.gamma(1.2, 0.4, n)
    table[name] = np.abs(random.normal(truth, errors)) * unit
    table[f"{name}_err1"], table[f"{name}_err2"] = 1.2 * errors * unit, -0.8 * errors * unit
table["disposition"] = np.where(is_planet, "PLANET", "FALSE ALARM")

path = Path(tempfile.mkdtemp()) / "candidates.fits"
table.write(path)

# %%
# Read it back, and fit. Text columns of FITS files are bytes, which ``astype(str)`` decodes.

candidates = QTable.read(path)
y = np.asarray(candidates["disposition"]).astype(str)
candidates.remove_column("disposition")
forest = ProbabilisticRandomForestClassifier(
    100, min_samples_leaf=5, error_columns="auto", random_state=0, oob_score=True
)
forest.fit(candidates, y)
print(forest.error_pairs_)
print(f"out-of-bag accuracy {forest.oob_score_:.3f}")

# %%
# The next table has periods in hours. The answers are the same, because units are converted.

hours = QTable(
    {name: candidates[name].to(u.hour) if "period" in name else candidates[name] for name in candidates.colnames}
)
print(hours["period"][:3], np.allclose(forest.predict_proba(hours), forest.predict_proba(candidates)))

# %%
# The answers go back into a FITS table.

answers = Table({"p_planet": forest.predict_proba(candidates)[:, 1]})
answers.write(path.with_name("answers.fits"))

sure = answers["p_planet"]
figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
some = random.permutation(n)[:250]
x, x_err = candidates["period"].value, np.abs([candidates["period_err2"].value, candidates["period_err1"].value])
ax.errorbar(
    x[some], candidates["depth"].value[some], xerr=x_err[:, some], fmt="none", ecolor="#bbbbbb", linewidth=0.6, zorder=1
)
points = ax.scatter(
    x[some], candidates["depth"].value[some], c=sure[some], cmap="coolwarm", s=22, zorder=2, vmin=0, vmax=1
)
ax.set(xscale="log", yscale="log", xlim=(0.1, 300), xlabel="period [d]", ylabel="depth [ppm]")
figure.colorbar(points, label="probability of a planet")
plt.show()
