import subprocess
import sys

import pytest

from probforest.cli import main


def test_demo_prints_the_comparison(capsys):
    assert main(["demo", "--objects", "300", "--trees", "5"]) == 0
    printed = capsys.readouterr().out.splitlines()
    rows = [row for row in printed if row.startswith(("exact", "errors", "an error", "4"))]
    assert len(rows) == 4
    for row in rows:
        numbers = [float(word) for word in row.split()[-8:]]
        assert all(0 < accuracy <= 1 for accuracy in numbers[:2])


def test_the_same_seed_prints_the_same_accuracies(capsys):
    def accuracies(*options):
        main(["demo", "--objects", "200", "--trees", "3", *options])
        return [row.split()[-8:-4] for row in capsys.readouterr().out.splitlines()[3:]]

    assert accuracies("--seed", "1") == accuracies("--seed", "1", "--n-jobs", "2")
    assert accuracies("--seed", "1") != accuracies("--seed", "2")


@pytest.mark.parametrize(
    "words",
    ["", "demo --trees 0", "demo --objects 3", "demo --objects many", "demo --n-jobs 0", "demo --seed -1", "train"],
)
def test_wrong_words_exit_with_2_and_say_why(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words.split())
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_module_and_version():
    run = subprocess.run([sys.executable, "-m", "probforest", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "0.1.0"
