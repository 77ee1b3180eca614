"""
The command line, from a notebook
=================================

No Python is needed to classify a table in a file. This example calls the commands as a shell would, and draws what
they wrote.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from probforest.cli.main import main

folder = Path(tempfile.mkdtemp())


def shell(line):
    """Run a command as it is typed in a shell, in the folder of this example."""
    print(f"$ {line}")
    main([word.replace("@", f"{folder}/") for word in line.split()[1:]])


shell("probforest example -o @tables --objects 2000")

# %%
# Train. Errors are recognised by their names, and the forest is judged out of bag.

shell("probforest train @tables/known.csv --target kind --drop objid -o @model.prf --set n_estimators=60")

# %%
# Predict a survey, and the table with known classes that was kept for testing.

shell("probforest predict @model.prf @tables/survey.csv -o @classes.csv")
shell("probforest predict @model.prf @tables/test.csv --keep kind -o @tested.csv")
classes, tested = pd.read_csv(folder / "classes.csv"), pd.read_csv(folder / "tested.csv")
print(classes.head(3))

# %%
# Left: the answers for the survey. Right: how clean a sample would be that keeps only the surest objects, from the
# table with known classes. ``probforest evaluate`` makes a whole report of such figures.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
kinds = [classes.loc[classes.predicted_class == kind, "proba_quasar"] for kind in ("star", "quasar")]
left.hist(kinds, bins=25, stacked=True, label=["star", "quasar"], color=["#E69F00", "#0072B2"])
left.set(xlabel="probability of a quasar", ylabel="objects in the survey")
left.legend()
sure = tested[["proba_star", "proba_quasar"]].max(axis=1).sort_values(ascending=False)
right_answers = (tested.predicted_class == tested.kind)[sure.index]
kept = np.arange(1, len(sure) + 1)
right.plot(kept / len(sure), right_answers.cumsum() / kept, color="#0072B2")
right.set(xlabel="share of the objects that is kept, the surest first", ylabel="accuracy", ylim=(0.85, 1.005))
plt.show()
