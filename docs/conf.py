"""Sphinx's settings. make docs copies docs and notebooks to build/docs/source,
writes the reference there, and builds that folder."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "_ext"))

project = "gocuda"
author = "The gocuda authors"
copyright = author
version = release = pathlib.Path("VERSION").read_text().strip()

extensions = ["myst_nb", "sphinx_copybutton", "walk", "accessible"]
exclude_patterns = ["requirements*.txt", "tutorials/testdata"]

nb_execution_mode = "off"  # the outputs are those in the files
nb_render_text_lexer = "text"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# The cells of notebooks have magics among their Go; no lexer knows these.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"gocuda {version}"
html_search_scorer = "_static/scorer.js"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_selector = "div.highlight:not(.highlight-output) pre"
