"""How the site is built: python -m sphinx -W --keep-going docs docs/_build/html."""

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER / "_site"))
os.environ.setdefault("PROBFOREST_QUIET", "1")  # the line about compiling belongs to no example

import drawings  # noqa: E402
import native_math  # noqa: E402
import project_pages  # noqa: E402
import public_members  # noqa: E402

import probforest  # noqa: E402

project = "probforest"
author = "The probforest developers"
copyright = "The probforest developers"
version = release = probforest.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.md5", "gallery/**/*.ipynb", "gallery/**/*.py"]
highlight_language = "text"
nitpicky = True
nitpick_ignore_regex = [("py:.*", "(?!probforest).*")]  # only links within the site are made: a build needs no network
show_warning_types = True

# Pages
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath", "html_image"]
myst_heading_anchors = 4
html_math_renderer = "native"

# Reference
autodoc_typehints = "none"
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
autodoc_default_options = {"members": True, "inherited-members": True}
autosummary_generate = True
autosummary_imported_members = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": "/",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "api/generated/examples",
    "doc_module": ("probforest",),
    "reference_url": {"probforest": None},
    "reset_modules": ("gallery_style.apply",),
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "plot_gallery": True,
    "default_thumb_file": str(FOLDER / "figures" / "explain_tree.svg"),
}

# Look
html_theme = "pydata_sphinx_theme"
html_title = "probforest"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "probforest"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"start": [], "method": [], "gallery/**": ["sidebar-nav-bs"], "index": []}


def setup(app):
    for part in (drawings, native_math, project_pages, public_members):
        part.setup(app)
