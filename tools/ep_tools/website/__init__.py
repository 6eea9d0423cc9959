"""The documentation site: pages of docs/ and of the rooms, and pages made from the code, as a tree that Sphinx builds.

    python tools site build/site

`source` writes the tree, `extension` is what Sphinx knows of EP, `contents` what must have a place, `check` whether it has.
"""
