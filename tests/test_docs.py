"""The examples in the README and the docs run as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from probforest.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITHOUT_CODE = {"about.md", "guide.md"}  # lists of other pages
MADE_BY_THE_BUILD = ("drawn/", "gallery/")


def examples(page):
    """Python, and what is typed in a shell, in their order."""
    return re.findall(r"^```(python|sh)\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def run_commands(block):
    """The lines of a shell that run probforest itself."""
    for line in block.splitlines():
        if line.startswith("probforest "):
            assert main(shlex.split(line.split(" | ")[0])[1:]) == 0, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = examples(page)
    assert blocks or page.name in WITHOUT_CODE
    names = {"__name__": "example"}
    for language, block in blocks:
        if language == "python":
            exec(compile(block, page.name, "exec"), names)
        elif page.name == "catalogues.md" or "probforest example" in block:  # others take minutes, or tables of users
            run_commands(block)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "start.md"], ids=lambda page: page.name)
def test_pages_show_what_their_examples_print(page, capsys):
    pattern = re.compile(r"^```python\n(.*?)^```.*?^```text\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
    pairs = pattern.findall(page.read_text(encoding="utf-8"))
    assert pairs
    names = {"__name__": "example"}
    for block, shown in pairs:
        exec(compile(block, page.name, "exec"), names)
        printed, expected = (
            [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
            for text in (capsys.readouterr().out, shown)
        )
        assert printed == pytest.approx(expected, abs=0.02)


def test_readme_and_ci_run_the_same_test_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^```sh\n(.*?)^```", readme, flags=re.MULTILINE | re.DOTALL)
    test_commands = [command for command in commands if "python -m pytest" in command]
    assert len(test_commands) == 1
    assert test_commands[0].count("\n") == 1  # .ci/run takes the one line out of the README
    pattern = re.search(r"grep -m1 '(.*?)' README.md", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    first = next(row for row in readme.splitlines() if pattern.group(1) in row)
    assert first == test_commands[0].strip()


@pytest.mark.parametrize(
    "page", [*PAGES, *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"], ids=lambda page: page.name
)
def test_links_lead_to_files(page):
    """On GitHub, too. The build of the site also checks anchors."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)", text)
    wrong = [
        link
        for link in links
        if "://" not in link and not link.startswith(MADE_BY_THE_BUILD) and not (page.parent / link).exists()
    ]
    assert wrong == []


def test_messages_of_the_page_about_troubles_are_those_of_the_program():
    text = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8").partition("## No message")[0]
    cells = re.findall(r"^\| (`.*?) \| ", text, flags=re.MULTILINE)
    parts = [part for cell in cells for part in re.findall(r"`([^`]+)`", cell)]
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    source = re.sub(r'"\s+f?["\']', "", source)  # messages of several lines
    assert len(parts) > 20
    assert [part for part in parts if part not in source] == []
