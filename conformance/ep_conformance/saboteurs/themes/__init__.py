"""Planted defects that are no family's own, a file a theme. They are found, not listed."""
