"""How Sphinx builds the site: `make site`. The tree that it reads is written by ep_tools.website."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

project = "EP"
author = "The EP authors"
html_title = "EP"
extensions = ["myst_parser", "sphinx.ext.autodoc", "ep_tools.website.extension"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
python_use_unqualified_type_names = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
add_module_names = False
toc_object_entries_show_parents = "hide"
pygments_style = "tango"
pygments_dark_style = "monokai"
smartquotes = False  # they would make one dash of the two of an option
html_static_path = [str(ROOT / "docs" / "_static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
