"""Importances with names."""

import numpy as np
import pandas as pd
import pytest

from probforest import ProbabilisticGradientBoostingClassifier, ProbabilisticRandomForestRegressor
from probforest.explain import Importances

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(RANDOM.normal(size=(120, 3)), columns=["u", "$g$", "<b>r</b>"])


@pytest.mark.parametrize("model", [ProbabilisticRandomForestRegressor(5), ProbabilisticGradientBoostingClassifier()])
def test_they_are_those_of_the_model(model):
    y = (TABLE["$g$"] > 0).astype(int)
    model.set_params(random_state=0).fit(TABLE, y)
    found = model.importances_
    assert dict(found.items()) == pytest.approx(dict(zip(TABLE.columns, model.feature_importances_, strict=True)))
    assert found.index[0] == "$g$"
    assert found["u"] == model.feature_importances_[0]


def test_it_is_like_a_series():
    found = Importances.of(["a", "b", "c"], [0.1, 0.7, 0.2], "share", errors=[0.01, 0.02, 0.03])
    assert list(found) == [0.7, 0.2, 0.1]
    assert (len(found), found.keys(), "c" in found, "d" in found) == (3, ["b", "c", "a"], True, False)
    np.testing.assert_array_equal(np.asarray(found), found.values)
    np.testing.assert_array_equal(found.errors, [0.02, 0.03, 0.01])
    series = found.to_series()
    assert isinstance(series, pd.Series)
    assert series.to_dict() == dict(found.items()) == {"b": 0.7, "c": 0.2, "a": 0.1}
    assert found.head(2).items() == [("b", 0.7), ("c", 0.2)]
    assert repr(found).splitlines() == ["b  0.7 ± 0.02", "c  0.2 ± 0.03", "a  0.1 ± 0.01", "share, 3 features"]
    with pytest.raises(KeyError, match="x"):
        found["x"]
    with pytest.raises(ValueError, match=r"There are 2 names of features, but values has shape \(3,\)"):
        Importances.of(["a", "b"], [1, 2, 3], "share")


def test_a_figure():
    plt = pytest.importorskip("matplotlib.pyplot")
    found = Importances.of(["a", "$b$", "c"], [0.1, 0.7, 0.2], "share", errors=[0.01, 0.02, 0.03])
    ax = found.plot(most=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["$b$", "c"]
    assert ax.get_xlabel() == "share (1 not shown)"
    ax.figure.canvas.draw()  # $b$ is no formula
    plt.close("all")
