"""Imports `ep` before pytest sees the folder of the same name, and keeps collections short."""

from __future__ import annotations

import gc

import pytest

import ep  # noqa: F401 - the import is the purpose


@pytest.fixture(autouse=True, scope="module")
def _short_collections() -> None:
    """Set aside what is alive before each file: some tests collect, and two gigabytes of collected tests took seconds each time."""
    gc.collect()
    gc.freeze()
