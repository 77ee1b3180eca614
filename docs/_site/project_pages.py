"""Pages that lie outside of this folder (the changelog, ...), copied for the site with their links changed."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1]
ROOT = FOLDER.parent
PAGES = {
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "architecture": "ARCHITECTURE.md",
    "benchmarks": "benchmarks/README.md",
}


def _page_of(link: str, folder: Path) -> str | None:
    """The name of a copied page that a link of a page in `folder` leads to, and its anchor."""
    path, hash_sign, anchor = link.partition("#")
    for name, source in PAGES.items():
        if (folder / path).resolve() == ROOT / source:
            return f"{name}.md{hash_sign}{anchor}"
    return None


def _copied_link(link: str, folder: Path) -> str:
    page = _page_of(link, folder)
    if page or "://" in link or link.startswith("#"):
        return page or link
    return "../" + (folder / link).resolve().relative_to(FOLDER).as_posix()


def _write_pages(app) -> None:
    target = FOLDER / "project"
    target.mkdir(exist_ok=True)
    for name, source in PAGES.items():
        (target / f"{name}.md").write_text(_copied(ROOT / source), encoding="utf-8")


def _copied(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return re.sub(r"(?<=\]\()[^)\s]+", lambda found: _copied_link(found[0], path.parent), text)


def _link_to_copies(app, name: str, content: list[str]) -> None:
    """Links of the site's own pages to pages that are copied."""
    folder = (FOLDER / name).parent

    def changed(found: re.Match) -> str:
        page = _page_of(found[0], folder)
        return f"project/{page}" if page else found[0]

    if "/" not in name:
        content[0] = re.sub(r"(?<=\]\()\.\.[^)\s]+", changed, content[0])


def setup(app):
    app.connect("builder-inited", _write_pages, priority=100)
    app.connect("source-read", _link_to_copies)
