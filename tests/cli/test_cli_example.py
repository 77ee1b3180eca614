"""`probforest example`."""

import json

import pandas as pd
import pytest

from command_line import call, said
from probforest.cli.options.example import FORMATS
from probforest.storage.catalogues import open_catalogue


@pytest.mark.parametrize("form", FORMATS)
def test_all_formats_hold_the_same_tables(tmp_path, capsys, form):
    assert "known" in said(capsys, "example", "-o", tmp_path / "new" / "folder", "--format", form, "--objects", 5).out
    for name, n_rows, n_columns in (("known", 2000, 22), ("test", 1000, 22), ("survey", 5, 21)):
        with open_catalogue(tmp_path / "new" / "folder" / f"{name}.{form}") as catalogue:
            table = catalogue.whole()
        assert (table.num_rows, table.num_columns) == (n_rows, n_columns)
        assert table.column("mag3").to_pylist()[0] == pytest.approx(EXPECTED[name], abs=1e-6)


EXPECTED = {}


@pytest.fixture(autouse=True, scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    assert call("example", "-o", folder, "--objects", 5) == 0
    for name in ("known", "test", "survey"):
        EXPECTED[name] = pd.read_csv(folder / f"{name}.csv")["mag3"][0]


def test_the_other_commands_take_them(tmp_path, capsys):
    words = ["example", "-o", tmp_path, "--objects", 50]
    assert call(*words) == 0
    train = ["train", tmp_path / "known.csv", "--target", "kind", "--drop", "objid", "--set", "n_estimators=3"]
    assert call(*train, "-o", tmp_path / "m.prf") == 0
    assert call("predict", tmp_path / "m.prf", tmp_path / "survey.csv", "-o", tmp_path / "out.csv") == 0
    assert call("evaluate", tmp_path / "m.prf", tmp_path / "test.csv") == 0
    assert call(*words) == 2
    assert "known.csv exists already" in capsys.readouterr().err
    assert call(*words, "--overwrite") == 0


def test_several_formats_at_once(tmp_path, capsys):
    made = said(capsys, "example", "-o", tmp_path, "--format", "csv", "parquet", "csv", "--objects", 5, "--json").out
    files = json.loads(made)
    assert files["survey"] == [str(tmp_path / "survey.csv"), str(tmp_path / "survey.parquet")]
    assert len(list(tmp_path.iterdir())) == 6
    pd.testing.assert_frame_equal(*(reader(path) for reader, path in zip(READERS, files["test"], strict=True)))


READERS = (pd.read_csv, pd.read_parquet)
