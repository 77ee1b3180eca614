"""Tables in the files of a folder, at addresses, and as folders that are written."""

import shutil

import pyarrow as pa
import pytest
from pyarrow import parquet

from probforest.storage.catalogues import RemotePath, open_catalogue, open_parts

ROWS = pa.table({"x": [1.0, 2.0, None, 4.0, 5.0], "n": [1, 2, 3, 4, 5], "t": ["a", "b", "c", "d", "e"]})


@pytest.fixture
def folder(tmp_path):
    """Two Parquet files, one of them in a folder of its own, and files that are no tables."""
    folder = tmp_path / "survey"
    (folder / "north=1").mkdir(parents=True)
    parquet.write_table(ROWS.slice(0, 2), folder / "north=1" / "a.parquet")
    parquet.write_table(ROWS.slice(2), folder / "z.parquet")
    (folder / "_metadata").write_text("nothing")
    (folder / ".hidden.csv").write_text("x\n1\n")
    (folder / "README.md").write_text("# survey")
    return folder


def chunks_of(path, numbers=("x",), others=("n", "t")):
    with open_catalogue(path) as catalogue:
        return list(catalogue.chunks(numbers, others))


def test_a_folder_is_one_table(folder):
    with open_catalogue(folder) as catalogue:
        assert (catalogue.names, catalogue.n_rows) == (["x", "n", "t"], 5)
        assert catalogue.whole().equals(ROWS)
        numbers = pa.concat_tables(chunk.numbers for chunk in catalogue.chunks(["x"], ["t"]))
        assert numbers.column("x").to_pylist() == [1.0, 2.0, None, 4.0, 5.0]
        assert [catalogue.place_of(row)[0].name for row in (0, 1, 2, 4)] == ["a.parquet"] * 2 + ["z.parquet"] * 2
        assert catalogue.place_of(4)[1] == 2


def test_formats_can_be_mixed(folder):
    (folder / "zz.csv").write_text("t,n,x,more\nf,6,6.5,1\n")
    found = chunks_of(folder)
    assert found[-1].numbers.column("x").to_pylist() == [6.5]
    assert found[-1].others.to_pydict() == {"n": [6], "t": ["f"]}


def test_files_that_differ_are_named(folder):
    parquet.write_table(ROWS.drop_columns(["t"]), folder / "y.parquet")
    with pytest.raises(ValueError, match=r"y.parquet has no column t, which .*a.parquet has"):
        open_catalogue(folder)
    (folder / "y.parquet").unlink()
    other = pa.table({"x": ["high"], "n": [6], "t": ["f"]})
    parquet.write_table(other, folder / "y.parquet")
    with pytest.raises(ValueError, match=r"y.parquet: the column 'x' must hold numbers, but has the text 'high'"):
        chunks_of(folder)
    parquet.write_table(pa.table({"x": [1.0], "n": [0.5], "t": ["f"]}), folder / "y.parquet")
    with pytest.raises(ValueError, match=r"y.parquet has the column 'n' of the type double"):
        chunks_of(folder)


def test_whole_numbers_of_another_width(folder):
    parquet.write_table(pa.table({"x": [1], "n": pa.array([7], "int8"), "t": ["f"]}), folder / "zz.parquet")
    assert chunks_of(folder)[-1].others.schema.field("n").type == pa.int64()


def test_addresses(folder):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/survey", recursive=True)
    try:
        assert pa.concat_tables(chunk.others for chunk in chunks_of("memory://survey")).num_rows == 5
        (only,) = chunks_of(RemotePath("memory://survey/z.parquet"))
        assert only.others.column("t").to_pylist() == ["c", "d", "e"]
        with pytest.raises(FileNotFoundError, match="memory://nothing"):
            open_catalogue("memory://nothing")
        with pytest.raises(ValueError, match="xyz://a can't be read"):
            open_catalogue("xyz://a")
    finally:
        memory.rm("/survey", recursive=True)


def write(folder, pieces, job=None, *, resume=False, overwrite=False, fails=False):
    with open_parts(folder, job or {"model": 1}, resume=resume, overwrite=overwrite, rows_of_a_part=2) as output:
        behind = output.n_finished
        for piece in pieces:
            known = min(behind, piece.num_rows)
            behind -= known
            output.write(piece.slice(known))
        if fails:
            raise KeyboardInterrupt


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_interrupted_folder_is_completed_to_the_same_bytes(tmp_path):
    pieces = [ROWS.slice(0, 3), ROWS.slice(3)]
    write(tmp_path / "whole", pieces)
    assert parquet.read_table(tmp_path / "whole").equals(ROWS)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "stopped", pieces[:1], fails=True)
    assert sorted(content(tmp_path / "stopped")) == ["_probforest.json", "part-00000.parquet"]
    write(tmp_path / "stopped", pieces, resume=True)
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")
    write(tmp_path / "stopped", pieces, resume=True)  # nothing is left to be done
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


def test_folders_of_others_are_kept(tmp_path):
    pieces = [ROWS]
    write(tmp_path / "out", pieces)
    with pytest.raises(ValueError, match="is not empty"):
        write(tmp_path / "out", pieces)
    with pytest.raises(ValueError, match="was begun with another model"):
        write(tmp_path / "out", pieces, {"model": 2}, resume=True)
    write(tmp_path / "out", [ROWS.slice(0, 1)], {"model": 2}, overwrite=True)
    assert parquet.read_table(tmp_path / "out").num_rows == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for option in ({"overwrite": True}, {"resume": True}):
        with pytest.raises(ValueError, match=r"probforest did not write|no prediction that could be resumed"):
            write(tmp_path / "mine", pieces, **option)
    shutil.rmtree(tmp_path / "mine")
    (tmp_path / "mine").write_text("a file")
    with pytest.raises(ValueError, match="is a file"):
        write(tmp_path / "mine", pieces)
