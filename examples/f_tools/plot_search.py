"""
Pipelines and searches of scikit-learn
======================================

When the errors are columns of the table, everything in scikit-learn works as usual: pipelines, folds, searches. Here
a search finds how large leaves should be and which prior is best for a noisy version of the breast-cancer table.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from probforest import ProbabilisticRandomForestClassifier

data = load_breast_cancer()
random = np.random.default_rng(0)
names = [name.removeprefix("mean ").replace(" ", "_") for name in data.feature_names[:10]]
X_err = np.hypot(data.data[:, 10:20], random.gamma(1, 0.8, (569, 10)) * data.data[:, :10].std(axis=0))
table = pd.DataFrame(random.normal(data.data[:, :10], X_err), columns=names)
table = table.join(pd.DataFrame(X_err, columns=[f"{name}_err" for name in names]))
table["hospital"] = random.choice(["A", "B"], 569)  # a column that is not a number
print(table.iloc[:3, [0, 10, 1, 11, 20]])

# %%
# The first step keeps the numbers and their names. No scaler: forests don't need one, and it would scale values but
# not errors.

numbers = make_column_transformer(
    ("passthrough", make_column_selector(dtype_include="number")), verbose_feature_names_out=False
).set_output(transform="pandas")
forest = ProbabilisticRandomForestClassifier(40, error_columns="auto", random_state=0)
pipeline = make_pipeline(numbers, forest)
name = "probabilisticrandomforestclassifier"
grid = {f"{name}__min_samples_leaf": [1, 3, 10, 30], f"{name}__prior": [None, "empirical", "joint"]}
search = GridSearchCV(pipeline, grid, scoring="neg_log_loss", cv=4).fit(table, data.target)
print(search.best_params_)

# %%
# Log loss of every setting (smaller is better), with the standard error over the folds.

results = search.cv_results_
leaf, prior_of = ([each[f"{name}__{word}"] for each in results["params"]] for word in ("min_samples_leaf", "prior"))
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for prior, colour in ((None, "#999999"), ("empirical", "#56B4E9"), ("joint", "#0072B2")):
    mine = [number for number, each in enumerate(prior_of) if each == prior]
    ax.errorbar(
        [leaf[number] for number in mine],
        -results["mean_test_score"][mine],
        results["std_test_score"][mine] / np.sqrt(4),
        fmt="o-",
        color=colour,
        label=f"prior={prior!r}",
        capsize=3,
    )
ax.set(xscale="log", xticks=[1, 3, 10, 30], xticklabels=[1, 3, 10, 30], xlabel="min_samples_leaf", ylabel="log loss")
ax.minorticks_off()
ax.legend()
plt.show()
