"""Errors of the training set and fallback trees in model files, right and wrong ones."""

import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.storage.model_file import ModelFileError, read_file, write_file
from probforest.storage.models import describe, load, save

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.normal(size=(80, 2)), np.arange(80) % 2
X_ERR = 10.0 ** RANDOM.normal(size=(80, 2)) * (1 + Y[:, None])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "forest.prf"
    forest = ProbabilisticRandomForestClassifier(3, random_state=0, error_features=True)
    save(forest.fit(X, Y, X_err=(X_ERR, X_ERR * [1, 2])), path)
    return path


def crafted(saved, path, change):
    document, arrays = read_file(saved)
    change(document, arrays)
    write_file(path, document, arrays)
    return path


def put(name, place, value):
    return lambda document, arrays: arrays[name].__setitem__(place, value)


def replace(name, function):
    return lambda document, arrays: arrays.update({name: function(arrays[name])})


def remove(name):
    return lambda document, arrays: arrays.pop(name)


def tell(key, value):
    return lambda document, arrays: document.update({key: value})


def test_what_a_file_tells(saved):
    assert describe(saved)["has_fallback_trees"]
    model = load(saved)
    assert model.feature_names_.tolist()[2:] == ["error of x0", "lower error of x1", "upper error of x1"]
    assert len(model.fallback_trees_) == 3


@pytest.mark.parametrize(
    "change",
    {
        "quantiles that fall": put("error_quantiles", (0, 3), 99.0),
        "quantiles that are none": put("error_quantiles", (0, 3), np.nan),
        "endless quantiles": put("error_quantiles", (0, -1), np.inf),
        "fewer quantiles": replace("error_quantiles", lambda array: array[:, :-1].copy()),
        "fewer errors": replace("error_quantiles", lambda array: array[:-1]),
        "single precision": replace("error_quantiles", lambda array: array.astype(np.float32)),
        "no quantiles": remove("error_quantiles"),
        "no counts": remove("error_counts"),
        "share": put("error_counts", (0, 0), 1.5),
        "share that is none": put("error_counts", (0, 0), np.nan),
        "no objects": put("error_counts", (0, 1), 0.0),
        "endless objects": put("error_counts", (0, 1), np.inf),
        "feature": tell("error_spreads", [[0, "both"], [2, "lower"], [1, "upper"]]),
        "negative feature": tell("error_spreads", [[0, "both"], [-1, "lower"], [1, "upper"]]),
        "feature of text": tell("error_spreads", [[0, "both"], ["1", "lower"], [1, "upper"]]),
        "feature that is true": tell("error_spreads", [[0, "both"], [True, "lower"], [1, "upper"]]),
        "side": tell("error_spreads", [[0, "both"], [1, "left"], [1, "upper"]]),
        "side that is a list": tell("error_spreads", [[0, "both"], [1, []], [1, "upper"]]),
        "twice": tell("error_spreads", [[0, "both"], [1, "upper"], [1, "upper"]]),
        "fewer": tell("error_spreads", [[0, "both"]]),
        "none": tell("error_spreads", []),
        "no list": tell("error_spreads", 3),
        "flag": tell("error_features", "yes"),
        "no error features, but fallback trees": tell("error_features", False),
        "constant errors, which are no features": replace("error_quantiles", np.zeros_like),
        "no fallback": remove("fallback_tree_sizes"),
        "no nodes": remove("fallback_nodes_links"),
        "error feature in a fallback tree": put("fallback_nodes_links", (0, 0), 2),
        "feature of a tree": put("nodes_links", (0, 0), 5),
        "child": put("fallback_nodes_links", (0, 1), 10_000),
        "value": put("fallback_nodes_value", (0, 0), -1.0),
        "fewer fallback trees": replace("fallback_tree_sizes", lambda array: np.append(array[:-2], array[-2:].sum())),
    }.items(),
    ids=lambda item: item[0],
)
def test_crafted_files_are_refused(saved, tmp_path, change):
    with pytest.raises(ModelFileError, match="has no model that probforest can use"):
        load(crafted(saved, tmp_path / "crafted.prf", change[1]))


def test_a_file_of_before(tmp_path):
    """It knows no errors, and so it warns of none."""
    path = tmp_path / "tree.prf"
    save(ProbabilisticDecisionTreeClassifier().fit(X, Y, X_err=X_ERR), path)

    def older(document, arrays):
        for name in ("error_quantiles", "error_counts"):
            del arrays[name]
        del document["error_spreads"], document["error_features"], document["parameters"]["error_features"]

    model = load(crafted(path, path, older))
    assert model.error_shifts(X, X_err=X_ERR) == ()
    assert model.predict_proba(X, X_err=1e6 * X_ERR).shape == (80, 2)


def test_models_that_can_not_be_saved(tmp_path):
    forest = ProbabilisticRandomForestClassifier(3, random_state=0, error_features=True).fit(X, Y, X_err=X_ERR)
    forest.fallback_trees_ = forest.fallback_trees_[:2]
    with pytest.raises(ValueError, match="it does not have a fallback for each tree"):
        save(forest, tmp_path / "forest.prf")
