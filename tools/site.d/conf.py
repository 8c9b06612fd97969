# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of Sphinx for tools/site. The environment has DXP_VERSION."""
import os

project = "Direct xPU"
release = os.environ["DXP_VERSION"]
copyright = "the authors of Direct xPU, BSD-3-Clause"
extensions = ["myst_parser"]
root_doc = "README"
myst_heading_anchors = 4
highlight_language = "text"
html_theme = "furo"
html_title = f"Direct xPU {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
# Browsers do not let pages from files fetch the summaries.
html_show_search_summary = False
# Both have a contrast of at least 4.5 on the background of their scheme.
pygments_style = "xcode"
pygments_dark_style = "github-dark"
