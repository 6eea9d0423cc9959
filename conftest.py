"""Imports `ep` before pytest sees the folder of the same name."""

import ep  # noqa: F401 - the import is the purpose
