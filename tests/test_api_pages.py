"""The reference has a page for each public name, as its docstring says it."""

import importlib.util
from pathlib import Path

import probforest
import probforest.explain

SCRIPT = Path(__file__).parents[1] / "docs" / "api_pages.py"


def load_script():
    spec = importlib.util.spec_from_file_location("api_pages", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_pages_are_up_to_date():
    script = load_script()
    made = script.pages()
    assert script.outdated(made) == [], "run python docs/api_pages.py"
    for name in probforest.__all__:
        assert f"probforest.{name}.md" in made
    for name in probforest.explain.__all__:
        assert f"probforest.explain.{name}.md" in made
    page = made["probforest.ProbabilisticRandomForestClassifier.md"]
    assert "## shapley_values" in page
    assert "- `X_err` : None, float, array-like" in page
    assert all(f"]({name})" in made["README.md"] for name in made if name != "README.md")


def test_it_notices_changes(tmp_path, monkeypatch, capsys):
    script = load_script()
    monkeypatch.setattr(script, "FOLDER", tmp_path / "api")
    assert script.main([]) == 0
    assert script.main(["--check"]) == 0
    (tmp_path / "api" / "README.md").write_text("changed")
    (tmp_path / "api" / "old.md").write_text("old")
    capsys.readouterr()
    assert script.main(["--check"]) == 1
    assert capsys.readouterr().out.split() == ["README.md", "old.md"]
    assert script.main([]) == 0
    assert script.main(["--check"]) == 0
