"""What was learnt about doubtful labels, in files."""

import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.storage.model_file import ModelFileError, read_file, write_file
from probforest.storage.models import load, save

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 2))
PMF = RANDOM.dirichlet([1, 2, 3], 60)


@pytest.fixture
def path(tmp_path):
    forest = ProbabilisticRandomForestClassifier(5, random_state=0).fit(X, y_proba=PMF, classes=[0, 1, 2])
    save(forest, tmp_path / "m.prf")
    return tmp_path / "m.prf"


@pytest.mark.parametrize("model", [ProbabilisticRandomForestClassifier(5), ProbabilisticDecisionTreeClassifier()])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.0, 1: 1.0, 2: 5.0}])
def test_a_loaded_model_says_the_same(model, class_weight, tmp_path):
    model = model.set_params(random_state=0, class_weight=class_weight).fit(X, y_proba=PMF, classes=[0, 1, 2])
    save(model, tmp_path / "m.prf")
    loaded = load(tmp_path / "m.prf")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.label_truth_.softness == model.label_truth_.softness
    assert loaded.label_truth_.wrong == model.label_truth_.wrong
    np.testing.assert_array_equal(loaded.label_truth_.channel, model.label_truth_.channel)


def test_certain_labels_need_nothing(tmp_path):
    save(ProbabilisticDecisionTreeClassifier().fit(X, PMF.argmax(axis=1)), tmp_path / "m.prf")
    document, arrays = read_file(tmp_path / "m.prf")
    assert document["label_truth"] is None
    assert not any(name.startswith("label_") for name in arrays)
    assert load(tmp_path / "m.prf").label_truth_ is None


ARRAYS = {
    "channel below 0": ("label_channel", lambda a: a - np.eye(3)),
    "channel of NaN": ("label_channel", lambda a: a * np.nan),
    "infinite channel": ("label_channel", lambda a: a + np.inf),
    "channel that does not sum to 1": ("label_channel", lambda a: a / 2),
    "channel of another shape": ("label_channel", lambda a: a[:2]),
    "channel of another type": ("label_channel", lambda a: a.astype(np.float32)),
    "prior that does not sum to 1": ("label_prior", lambda a: a / 2),
    "negative prior": ("label_prior", lambda a: np.array([2.0, -1.0, 0.0])),
    "prior of another shape": ("label_prior", lambda a: a[:, None]),
    "scale of zero": ("label_scale", lambda a: 0 * a),
    "large scale": ("label_scale", lambda a: 1e300 * a),
    "scale of NaN": ("label_scale", lambda a: a * np.nan),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_crafted_arrays_are_refused(path, case):
    name, change = ARRAYS[case]
    document, arrays = read_file(path)
    write_file(path, document, {**arrays, name: change(arrays[name])})
    with pytest.raises(ModelFileError, match=f"labels|{name}"):
        load(path)


@pytest.mark.parametrize("name", ["label_channel", "label_prior", "label_scale"])
def test_an_array_that_is_missing(path, name):
    document, arrays = read_file(path)
    write_file(path, document, {key: array for key, array in arrays.items() if key != name})
    with pytest.raises(ModelFileError, match="doubtful labels is missing"):
        load(path)


NUMBERS = [None, [], {}, {"softness": 0.1}, {"softness": 0.1, "wrong": 0.1, "more": 0.1}]
NUMBERS += [{"softness": softness, "wrong": 0.1} for softness in (0.0, -1.0, 1e300, "soft", None, 1, True)]
NUMBERS += [{"softness": 0.1, "wrong": wrong} for wrong in (-0.1, 1.1, None, {"$float": "nan"})]


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_crafted_numbers_are_refused(path, numbers):
    document, arrays = read_file(path)
    write_file(path, {**document, "label_truth": numbers}, arrays)
    with pytest.raises(ModelFileError, match="labels"):
        load(path)


def test_an_odd_matrix_that_passes_all_checks_gives_probabilities(path):
    document, arrays = read_file(path)
    arrays["label_channel"] = np.full((3, 3), 1 / 3)  # singular
    arrays["label_prior"] = np.array([1.0, 1e-320, 0.0])
    arrays["label_scale"] = np.array([1.0, 1e-300, 0.0])
    write_file(path, {**document, "label_truth": {"softness": 1e-12, "wrong": 0.0}}, arrays)
    found = load(path).predict_proba(X)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
