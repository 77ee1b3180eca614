"""The command line for tests, in a process of its own or in this one, and small models to use it with."""

import subprocess
import sys

import pytest

from catalogue_files import make_catalogue, write_everywhere
from probforest.cli.main import main

TABLE = make_catalogue()
TRAIN = ["--target", "kind", "--drop", "objid", "sure", "--set", "n_estimators=10"]


def run(*words, **options):
    """Run `probforest` in a process of its own."""
    command = [sys.executable, "-m", "probforest", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def call(*words):
    """Run it in this process."""
    return main([*map(str, words)])


def said(capsys, *words):
    """Run it in this process; what it printed."""
    capsys.readouterr()
    assert call(*words) == 0
    return capsys.readouterr()


def start(*words):
    """Run it in a process of its own, and don't wait for it."""
    command = [sys.executable, "-m", "probforest", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def write(path, text):
    path.write_text(text)
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The catalogue in all formats, and a model of it with units and one without."""
    folder = tmp_path_factory.mktemp("tables")
    write_everywhere(TABLE, folder)
    assert call("train", folder / "t.fits", *TRAIN, "-o", folder / "with_units.prf") == 0
    assert call("train", folder / "t.csv", *TRAIN, "-o", folder / "without_units.prf") == 0
    return folder


@pytest.fixture(scope="session")
def small_model(tmp_path_factory):
    """A model of one feature, `g`, with errors, `e_g`, and the classes A and B; its table lies beside it."""
    folder = tmp_path_factory.mktemp("small")
    rows = "".join(f"{'AB'[i % 2]},{i % 2 + i / 50},0.1\n" for i in range(40))
    write(folder / "t.csv", "kind,g,e_g\n" + rows)
    options = ["--target", "kind", "--set", "n_estimators=2"]
    assert call("train", folder / "t.csv", *options, "-o", folder / "m.prf") == 0
    return folder / "m.prf"
