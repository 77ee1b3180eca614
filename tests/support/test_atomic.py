import errno
import os
import stat
import sys

import pytest

from probforest.support.atomic import replacing

ON_UNIX = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of Unix")


def write(path, text):
    with replacing(path) as part:
        part.write_text(text)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_and_one_that_is_replaced(tmp_path):
    path = tmp_path / "table.csv"
    for text in ("old", "new"):
        write(path, text)
        assert path.read_text() == text
        assert list(tmp_path.iterdir()) == [path]


def test_the_temporary_file_is_hidden_beside_the_other_and_keeps_it_whole(tmp_path):
    path = tmp_path / "table.csv"
    write(path, "old")
    with replacing(str(path)) as part:
        assert part.parent == tmp_path
        assert part.name.startswith(".table.csv.")
        assert part.name.endswith(".part")
        assert part.read_bytes() == b""
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


@pytest.mark.parametrize("exception", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("before", ["old", None])
def test_an_exception_leaves_everything_as_it_was(tmp_path, exception, before):
    path = tmp_path / "table.csv"
    if before is not None:
        path.write_text(before)

    def fail():
        with replacing(path) as part:
            part.write_text("half")
            raise exception

    with pytest.raises(exception):
        fail()
    assert [each.read_text() for each in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_temporary_file_that_someone_removed(tmp_path):
    def lose():
        with replacing(tmp_path / "table.csv") as part:
            part.unlink()

    with pytest.raises(FileNotFoundError):
        lose()
    assert list(tmp_path.iterdir()) == []


@ON_UNIX
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path, umask):
    before = os.umask(umask)
    try:
        write(tmp_path / "table.csv", "new")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "table.csv") == 0o666 & ~umask


@ON_UNIX
def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "table.csv"
    write(path, "old")
    path.chmod(0o640)
    write(path, "new")
    assert (path.read_text(), mode_of(path)) == ("new", 0o640)


@ON_UNIX
def test_a_write_protected_file_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write(path, "old")
    path.chmod(0o440)
    monkeypatch.setattr("os.access", lambda path, right: False)  # the administrator may write everything
    with pytest.raises(PermissionError, match="is write-protected"):
        write(path, "new")
    assert path.read_text() == "old"


@ON_UNIX
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_one(tmp_path, exists):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    if exists:
        (folder / "table.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(folder / "table.csv")
    write(link, "new")
    assert link.is_symlink()
    assert (folder / "table.csv").read_text() == "new"
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["elsewhere", "link.csv", "table.csv"]


def test_names_as_long_as_they_may_be(tmp_path):
    path = tmp_path / ("ü" * 120 + ".csv")
    write(path, "new")
    assert path.read_text() == "new"


def test_a_name_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("table.csv", "new")
    assert (tmp_path / "table.csv").read_text() == "new"


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_meanwhile_is_kept_and_so_is_the_result(tmp_path, monkeypatch, has_links):
    if not has_links:  # as on some file systems
        monkeypatch.setattr("os.link", no_links)
    path, second = tmp_path / "table.csv.gz", tmp_path / "table-2.csv.gz"

    def race():
        with replacing(path, overwrite=False) as part:
            part.write_text("mine")
            path.write_text("theirs")
            second.write_text("theirs too")

    with pytest.raises(
        FileExistsError, match=r"table\.csv\.gz was created by another program in the meantime.*table-3\.csv\.gz"
    ):
        race()
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {
        "table.csv.gz": "theirs",
        "table-2.csv.gz": "theirs too",
        "table-3.csv.gz": "mine",
    }


def no_links(source, target):
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("has_links", [True, False])
def test_a_new_file_that_must_not_replace_another(tmp_path, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr("os.link", no_links)
    with replacing(tmp_path / "table.csv", overwrite=False) as part:
        part.write_text("new")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"table.csv": "new"}
    with (
        pytest.raises(FileExistsError, match=r"table\.csv exists already"),
        replacing(part.with_name("table.csv"), overwrite=False),
    ):
        raise AssertionError
    assert (tmp_path / "table.csv").read_text() == "new"


def test_what_can_not_be_replaced(tmp_path):
    with pytest.raises(ValueError, match="is a folder and can't be replaced"):
        write(tmp_path, "new")
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere to write table.csv to"):
        write(tmp_path / "nowhere" / "table.csv", "new")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ValueError, match="is not a regular file and can't be replaced"):
            write(tmp_path / "pipe", "new")
