"""
The command line, from a notebook
=================================

No Python is needed to classify a table in a file. This example calls the commands as a shell would, and draws what
they wrote.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
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
# Predict, and say why: ``--explain`` adds the reasons to each row.

shell("probforest predict @model.prf @tables/survey.csv -o @classes.csv")
classes = pd.read_csv(folder / "classes.csv")
print(classes.head(3))

# %%
# How sure are the answers? The survey has no known classes, but the forest knows what it does not know.

survey = pd.read_csv(folder / "tables" / "survey.csv")
errors = survey.filter(like="e_mag")
size = (errors / errors.median()).median(axis=1)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
kinds = [classes.loc[classes.predicted_class == kind, "proba_quasar"] for kind in ("star", "quasar")]
left.hist(kinds, bins=25, stacked=True, label=["star", "quasar"], color=["#E69F00", "#0072B2"])
left.set(xlabel="probability of a quasar", ylabel="objects in the survey")
left.legend()
sure = classes[["proba_star", "proba_quasar"]].max(axis=1)
right.hexbin(size.clip(0, 3), sure, gridsize=28, cmap="Blues", mincnt=1)
right.set(xlabel="size of an object's errors", ylabel="probability of its class")
plt.show()
