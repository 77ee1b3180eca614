"""Which folder compiled kernels are kept in."""

import os
import tempfile
from pathlib import Path

import pytest

from probforest.support.cache_folder import open_store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="about the folders and permissions of POSIX systems")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder and one for temporary files, and nothing said about caches."""
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path / "home"


def temporary_place():
    return Path(tempfile.gettempdir()) / f"probforest-{os.getuid()}"


def can_not_be_written(monkeypatch, folder):
    """What a read-only disk does; root may write to any other folder."""
    make = tempfile.TemporaryFile

    def refuse(*, dir):
        if Path(dir).is_relative_to(folder):
            raise OSError(30, "Read-only file system")
        return make(dir=dir)

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)


def test_the_users_cache_folder_is_private(home):
    store = open_store("1.0", "")
    assert store.writable == home / ".cache" / "probforest" / "1.0"
    assert not store.temporary
    assert (home / ".cache" / "probforest").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("platform", "place"), [("linux", ".cache"), ("darwin", "Library/Caches")])
def test_conventions_of_the_system(home, monkeypatch, platform, place):
    monkeypatch.setattr("sys.platform", platform)
    assert open_store("1.0", "").writable == home / place / "probforest" / "1.0"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    assert open_store("1.0", "").writable == home / "xdg" / "probforest" / "1.0"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the convention forbids
    assert open_store("1.0", "").writable == home / place / "probforest" / "1.0"


def test_a_chosen_folder_comes_first(home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    assert open_store("1.0", str(home / "chosen")).writable == home / "chosen" / "probforest" / "1.0"


def test_a_home_that_is_no_folder_leaves_the_temporary_one(home, monkeypatch):
    monkeypatch.setenv("HOME", "/dev/null")
    store = open_store("1.0", "")
    assert store.writable == temporary_place() / "1.0"
    assert store.temporary
    assert temporary_place().stat().st_mode & 0o777 == 0o700


def test_nowhere(home, monkeypatch):
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setattr(tempfile, "tempdir", "/dev/null/nowhere")
    store = open_store("1.0", "")
    assert store.writable is None
    store.write("name", b"content")
    assert store.read("name") is None


def test_a_folder_that_can_only_be_read_is_read(home, monkeypatch):
    """As in a container, where somebody else has compiled the kernels."""
    chosen = home / "chosen"
    open_store("1.0", str(chosen)).write("name", b"content")
    can_not_be_written(monkeypatch, chosen)
    store = open_store("1.0", str(chosen))
    assert store.writable == temporary_place() / "1.0"
    assert store.read("name") == b"content"
    store.write("other", b"more")
    assert store.read("other") == b"more"
    assert [path.name for path in (chosen / "probforest" / "1.0").iterdir()] == ["name"]


def test_what_others_may_have_planted_is_not_read(home, monkeypatch):
    temporary_place().mkdir()
    temporary_place().chmod(0o777)
    monkeypatch.setenv("HOME", "/dev/null")
    assert open_store("1.0", "").writable is None
    temporary_place().chmod(0o700)
    assert open_store("1.0", "").writable is not None
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)  # now the folder is somebody else's
    store = open_store("1.0", "")
    assert store.writable is None
    assert store._folders == []


def test_a_planted_link_is_not_followed(home, monkeypatch):
    (home / "target").mkdir(mode=0o700)
    temporary_place().symlink_to(home / "target")
    monkeypatch.setenv("HOME", "/dev/null")
    assert open_store("1.0", "").writable is None


def test_a_link_in_the_home_folder_is_followed(home):
    (home / "scratch").mkdir(mode=0o700)
    (home / ".cache").mkdir()
    (home / ".cache" / "probforest").symlink_to(home / "scratch")
    assert open_store("1.0", "").writable == home / "scratch" / "1.0"


def test_a_file_under_another_name_is_none(home):
    store = open_store("1.0", "")
    store.write("name", b"content")
    assert store.read("name") == b"content"
    os.rename(store.writable / "name", store.writable / "other")
    assert store.read("other") is None


def test_editions_that_were_not_used_for_long_are_removed(home):
    stores = {edition: open_store(edition, "") for edition in ("old", "recent")}
    for store in stores.values():
        store.write("name", b"content")
    os.utime(stores["old"].writable, (0, 0))
    open_store("recent", "")
    assert stores["old"].read("name") == b"content"  # only a new edition has others removed
    open_store("new", "")
    assert stores["old"].read("name") is None
    assert stores["recent"].read("name") == b"content"


def test_nothing_is_removed_from_a_chosen_folder(home):
    old = open_store("old", str(home / "chosen"))
    os.utime(old.writable, (0, 0))
    open_store("new", str(home / "chosen"))
    assert old.writable.is_dir()
