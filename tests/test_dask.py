"""Forests on Dask: the same bits in memory, in threads and on a cluster of processes, also if workers die."""

import os
import pickle
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from pieces import same_trees
from probforest import (
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
    load,
    save,
)
from problems import random_problem

pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

import probforest.dask.forests as forests  # noqa: E402
import probforest.dask.passes as passes  # noqa: E402
from probforest.dask import (  # noqa: E402
    DaskProbabilisticRandomForestClassifier,
    DaskProbabilisticRandomForestRegressor,
    partition_proba,
    predict_proba,
)

N = 400
PROBLEM = random_problem(3, n=N, d=4, k=3, missing=0.05)
NAMES = ["u", "g", "r", "i"]
FEATURES = pd.DataFrame(PROBLEM.values, columns=NAMES).assign(
    **{f"e_{name}": PROBLEM.errors[:, j] for j, name in enumerate(NAMES)}
)
KIND = np.array(["ant", "bee", "cow"])[PROBLEM.pmf.argmax(axis=1)]
WEIGHT = np.linspace(0.0, 2.0, N)
TABLE = FEATURES.assign(kind=KIND, weight=WEIGHT, sure=np.linspace(0.5, 1.0, N), z=np.arange(N) / 100.0)
PARAMETERS = {"random_state": 0, "prior": "empirical", "error_columns": "auto"}
ROLES = ["weight", "sure", "z"]


def forest(**more):
    return DaskProbabilisticRandomForestClassifier(4, **{**PARAMETERS, **more})


def table(n_partitions=7, drop=ROLES, rows=TABLE):
    return dd.from_pandas(rows.drop(columns=list(drop)), npartitions=n_partitions, sort=False)


@pytest.fixture(scope="module")
def in_memory():
    return ProbabilisticRandomForestClassifier(4, **PARAMETERS).fit(FEATURES, KIND)


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.mark.parametrize("n_partitions", [1, 7, 50])
def test_threads_give_the_forest_in_memory(in_memory, n_partitions):
    assert same_trees(forest().fit(table(n_partitions), "kind"), in_memory)


def test_a_cluster_gives_the_forest_in_memory(in_memory, client, monkeypatch):
    """A worker dies when the partitions are coded, and takes some of them with it."""
    on_cluster = forest(client=client, verbose=1).fit(table(), "kind")
    assert same_trees(on_cluster, in_memory)
    original = passes.Cluster.kept

    def kept_and_lost(self, tasks):
        found = original(self, tasks)
        with client.as_current():
            distributed.wait(found)
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, 9)
        return found

    monkeypatch.setattr(passes.Cluster, "kept", kept_and_lost)
    assert same_trees(forest(client=client).fit(table(), "kind"), in_memory)


def dies_once(rows, path):
    """A partition whose first reader dies."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return rows
    os._exit(1)


def test_a_worker_dies_in_a_prediction(in_memory, client, tmp_path):
    fragile = table(4, ["kind", *ROLES]).map_partitions(dies_once, str(tmp_path / "dead"), meta=FEATURES.iloc[:0])
    found = client.compute(predict_proba(in_memory, fragile)).result(timeout=60)
    assert_array_equal(found.to_numpy(), in_memory.predict_proba(FEATURES))
    assert (tmp_path / "dead").exists()


GATE = threading.Event()


def waits(rows):
    GATE.wait(20)
    return rows


def test_a_lost_scheduler_is_a_clear_error(in_memory):
    model = forest()
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    patience = {"distributed.comm.timeouts.connect": "1s"}
    with (
        dask.config.set(patience),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        model.set_params(client=client).fit(table(3), "kind")  # one worker
        assert same_trees(model, in_memory)
        trees = model.trees_
        threading.Timer(1.0, cluster.loop.add_callback, [cluster.scheduler.close]).start()
        try:
            with pytest.raises(RuntimeError, match="connection to the Dask scheduler was lost"):
                model.fit(table(2).map_partitions(waits, meta=TABLE.drop(columns=ROLES).iloc[:0]), "kind")
        finally:
            GATE.set()
    assert model.trees_ is trees


def test_weights_doubtful_labels_and_class_weights():
    parameters = {**PARAMETERS, "class_weight": "balanced"}
    local = ProbabilisticRandomForestClassifier(4, **parameters)
    local.fit(FEATURES, KIND, y_proba=TABLE.sure, sample_weight=WEIGHT)
    found = forest(class_weight="balanced").fit(table(5, ["z"]), "kind", y_proba="sure", sample_weight="weight")
    assert same_trees(found, local)
    assert_array_equal(found.to_local().predict_proba(FEATURES), local.predict_proba(FEATURES))


def test_a_table_that_is_larger_than_the_sample(monkeypatch):
    monkeypatch.setattr(forests, "SAMPLE", 100)
    found = forest(max_samples=150).fit(table(6), "kind")
    local = ProbabilisticRandomForestClassifier(4, **PARAMETERS, max_samples=150)
    assert same_trees(found, local.fit(FEATURES, KIND, feature_model=found.to_local()))
    assert same_trees(found, forest(max_samples=150).fit(table(2), "kind"))


def test_too_little_memory_for_all_rows_is_said(monkeypatch):
    monkeypatch.setattr(forests.DaskForest, "_most_draws", lambda self, client, n_features: 60)
    with pytest.warns(UserWarning, match="Each tree draws 60 of 400 objects"):
        found = forest().fit(table(3), "kind")
    assert {draw.n_draws for draw in found.draws_} == {60}


def test_pmfs_as_columns():
    pmf = random_problem(3, n=N, d=4, k=3, missing=0.05, soft=True).pmf
    pmfs = pd.DataFrame(pmf, columns=["ant", "bee", "cow"])
    local = ProbabilisticRandomForestClassifier(4, **PARAMETERS).fit(FEATURES, y_proba=pmfs)
    rows = dd.from_pandas(pd.concat([FEATURES, pmfs], axis=1), npartitions=4, sort=False)
    assert same_trees(forest().fit(rows, y_proba=["ant", "bee", "cow"]), local)


def test_arrays():
    X, errors = (da.from_array(each, chunks=(90, 3)) for each in (PROBLEM.values, PROBLEM.errors))
    parameters = {"random_state": 0, "prior": None}
    found = DaskProbabilisticRandomForestClassifier(4, **parameters).fit(
        X, da.from_array(KIND, chunks=90), X_err=errors
    )
    local = ProbabilisticRandomForestClassifier(4, **parameters).fit(PROBLEM.values, KIND, X_err=PROBLEM.errors)
    assert same_trees(found, local)
    lazy = found.predict_proba(X, X_err=errors)
    assert lazy.shape == (N, 3)
    assert_array_equal(lazy.compute(), local.predict_proba(PROBLEM.values, X_err=PROBLEM.errors))
    lazy = found.predict(X, X_err=0.5)
    assert lazy.dtype == local.classes_.dtype
    assert_array_equal(lazy.compute(), local.predict(PROBLEM.values, X_err=0.5))


def test_numbers():
    local = ProbabilisticRandomForestRegressor(4, **PARAMETERS).fit(FEATURES, TABLE.z, y_err=TABLE.sure)
    found = DaskProbabilisticRandomForestRegressor(4, **PARAMETERS)
    found.fit(table(5, ["kind", "weight"]), "z", y_err="sure")
    assert same_trees(found, local)
    lazy = found.predict(table(3, ["kind", *ROLES]))
    assert_array_equal(lazy.compute().to_numpy(), local.predict(FEATURES))


def test_predictions_are_lazy_and_have_the_right_meta(in_memory):
    rows = FEATURES.set_index(pd.Index(np.arange(N) * 10, name="objid"))
    asked = table(3, [], rows).partitions[:2]
    lazy = predict_proba(in_memory, asked)
    found = lazy.compute()
    assert list(lazy.columns) == list(found.columns) == ["ant", "bee", "cow"]
    assert (lazy.dtypes == found.dtypes).all()
    assert lazy.index.name == found.index.name == "objid"
    assert_array_equal(found.index, asked.compute().index)
    model = forest().fit(table(2), "kind")
    answers = model.predict(asked)
    assert answers.name == answers.compute().name == "predicted"
    assert answers.dtype == answers.compute().dtype
    assert len(model.predict_proba(asked.loc[asked.u > 1e9]).compute()) == 0  # empty partitions


def test_the_local_forest_is_an_ordinary_one(in_memory, tmp_path):
    model = forest().fit(table(3), "kind")
    local = model.to_local()
    assert type(local) is ProbabilisticRandomForestClassifier
    save(local, tmp_path / "f.prf")
    assert_array_equal(load(tmp_path / "f.prf").predict_proba(FEATURES), in_memory.predict_proba(FEATURES))
    assert len(local.contributions(FEATURES.head(3)).values) == 3
    assert_array_equal(model.feature_importances_, in_memory.feature_importances_)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert same_trees(again, in_memory)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "trees_")


def test_partitions_that_differ():
    def refuses(match, change, **arguments):
        parts = [TABLE.drop(columns=ROLES).iloc[:200], change(TABLE.drop(columns=ROLES).iloc[200:].copy())]
        rows = dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0].iloc[:0], verify_meta=False)
        with pytest.raises(ValueError, match=match):
            forest().fit(rows, "kind", **arguments)

    refuses(r"partition 1: X has no column g", lambda part: part.drop(columns="g"))
    refuses(r"partition 1: X has the column 'g' of the type (object|str)", lambda part: part.assign(g="high"))
    refuses(r"y has text in partition 0 .* but numbers in partition 1", lambda part: part.assign(kind=1))
    refuses(r"partition 1: column 'e_g' of X is -1.0 at row 0", lambda part: part.assign(e_g=-1.0))
    refuses(r"partition 1: y is (nan|None|<NA>)", lambda part: part.assign(kind=None))


def test_empty_partitions_categories_and_rare_classes():
    """A class that only one partition has, among partitions that are empty, with labels as categories."""
    rows = TABLE.drop(columns=ROLES).assign(kind=np.where(np.arange(N) == 390, "dog", KIND))
    local = ProbabilisticRandomForestClassifier(4, **PARAMETERS).fit(FEATURES, rows.kind)
    parts = [rows.iloc[:0], rows.iloc[:300], rows.iloc[:0], rows.iloc[300:]]
    parts = [part.assign(kind=part.kind.astype("category")) for part in parts]
    whole = dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[1].iloc[:0], verify_meta=False)
    assert not whole.known_divisions
    found = forest().fit(whole, "kind")
    assert found.classes_.tolist() == ["ant", "bee", "cow", "dog"]
    assert same_trees(found, local)


def test_what_is_refused():
    with pytest.raises(TypeError, match="X must be a Dask DataFrame"):
        forest().fit(FEATURES, KIND)
    with pytest.raises(ValueError, match="X has no column 'kinds'"):
        forest().fit(table(), "kinds")
    with pytest.raises(ValueError, match="y has 3 partitions, but X has 2"):
        forest().fit(table(2, ["kind", *ROLES]), dd.from_pandas(TABLE.kind, npartitions=3))
    with pytest.raises(TypeError, match="y must be a Dask collection"):
        forest().fit(table(2, ["kind", *ROLES]), KIND)
    with pytest.raises(TypeError, match="no_such"):
        forest(no_such=1)
    with pytest.raises(ValueError, match="requires y"):
        forest().fit(table(2, ["kind", *ROLES]))
    with pytest.raises(ValueError, match="keep_proba"):
        forest(keep_proba=7).fit(table(), "kind")


@pytest.mark.filterwarnings("ignore")
def test_lsdb(in_memory):
    lsdb = pytest.importorskip("lsdb")
    places = {"ra": np.linspace(1.0, 300.0, N), "dec": np.linspace(-60.0, 60.0, N), "number": np.arange(N)}
    catalog = lsdb.from_dataframe(FEATURES.assign(**places), ra_column="ra", dec_column="dec", partition_rows=100)
    assert catalog.npartitions > 1

    def with_probabilities(rows, model):
        return rows[["number"]].join(partition_proba(rows, model))

    found = catalog.map_partitions(with_probabilities, in_memory).compute()
    expected = in_memory.predict_proba(FEATURES)[found["number"].to_numpy()]
    assert len(found) == N
    assert_array_equal(found[["proba_ant", "proba_bee", "proba_cow"]].to_numpy(), expected)


def test_a_partition_for_lsdb(in_memory):
    rows = TABLE.head(5)
    found = partition_proba(rows, in_memory)
    assert list(found.columns) == ["proba_ant", "proba_bee", "proba_cow"]
    assert_array_equal(found.to_numpy(), in_memory.predict_proba(FEATURES.head(5)))
    empty = partition_proba(rows.iloc[:0], in_memory)
    assert (empty.dtypes == found.dtypes).all()
    with pytest.raises(ValueError, match="no column 'e_g'"):
        partition_proba(rows.drop(columns="e_g"), in_memory)
