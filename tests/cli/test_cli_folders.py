"""Folders of tables as input and output of the commands."""

import json

import pytest
from pyarrow import csv, parquet

import probforest.storage.catalogues.parts as parts
from command_line import call, said


@pytest.fixture(scope="module")
def survey(small_model):
    """The table of the small model in three files."""
    folder = small_model.parent / "survey"
    folder.mkdir()
    table = csv.read_csv(small_model.parent / "t.csv")
    for number, (first, last) in enumerate(((0, 11), (11, 25), (25, 40))):
        parquet.write_table(table.slice(first, last - first), folder / f"{number}.parquet")
    return folder


def test_a_folder_is_predicted_as_its_table(small_model, survey, tmp_path):
    assert call("predict", small_model, survey, "-o", tmp_path / "folder.csv") == 0
    assert call("predict", small_model, small_model.parent / "t.csv", "-o", tmp_path / "file.csv") == 0
    assert (tmp_path / "folder.csv").read_bytes() == (tmp_path / "file.csv").read_bytes()


def test_a_folder_is_evaluated_and_recognised_as_the_training_table(small_model, survey, capsys):
    found = json.loads(said(capsys, "evaluate", small_model, survey, "--json").out)
    assert found["is_training_table"]
    assert found["table"] == str(survey)


def test_an_interrupted_prediction_is_resumed(small_model, survey, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(parts, "ROWS_OF_A_PART", 8)
    words = ["predict", small_model, survey]
    whole = json.loads(said(capsys, *words, "-o", tmp_path / "whole", "--json").out)
    assert whole["rows"] == 40
    assert len(list((tmp_path / "whole").glob("part-*.parquet"))) == 5
    (tmp_path / "cut").mkdir()
    for name in ("_probforest.json", "part-00000.parquet", "part-00001.parquet"):
        (tmp_path / "cut" / name).write_bytes((tmp_path / "whole" / name).read_bytes())
    resumed = json.loads(said(capsys, *words, "-o", tmp_path / "cut", "--resume", "--json").out)
    assert resumed["predicted"] == whole["predicted"]
    assert resumed["rows"] == 40
    for path in (tmp_path / "whole").iterdir():
        assert (tmp_path / "cut" / path.name).read_bytes() == path.read_bytes(), path.name
    assert call(*words, "-o", tmp_path / "cut", "--resume", "--prefix", "new_") == 2
    assert "was begun with other columns" in capsys.readouterr().err
    assert call(*words, "-o", survey / "classes") == 2
    assert "that is read" in capsys.readouterr().err
    assert call(*words, "-o", tmp_path / "cut") == 2
    assert call(*words, "-o", tmp_path / "file.csv", "--resume") == 2
    assert "--resume" in capsys.readouterr().err


def test_a_bad_value_is_named_with_its_file(small_model, tmp_path, capsys):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "1.csv").write_text("kind,g,e_g\nA,0.5,0.1\n")
    (tmp_path / "bad" / "2.csv").write_text("kind,g,e_g\nA,0.5,0.1\nB,1.5,-0.1\n")
    assert call("predict", small_model, tmp_path / "bad", "-o", tmp_path / "out.csv") == 2
    assert "2.csv: column 'e_g' is -0.1 at row 2" in capsys.readouterr().err


def test_addresses_on_the_command_line(small_model, survey, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(str(survey), "/sky", recursive=True)
    try:
        assert call("predict", small_model, "memory://sky", "-o", tmp_path / "out.parquet") == 0
    finally:
        memory.rm("/sky", recursive=True)
    assert parquet.read_table(tmp_path / "out.parquet").num_rows == 40
    assert call("predict", small_model, "memory://sky", "-o", tmp_path / "never.parquet") == 2
