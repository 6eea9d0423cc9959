"""Imports `ep` before pytest sees the folder of the same name, asks for the repair of PoCL, and keeps collections short."""

from __future__ import annotations

import gc
import os

import pytest

import ep  # noqa: F401 - the import is the purpose

os.environ.setdefault("EP_POCL_PROCESSOR", "auto")  # else PoCL compiles nothing on processors newer than its LLVM


@pytest.fixture(autouse=True, scope="module")
def _short_collections() -> None:
    """Set aside what is alive before each file: some tests collect, and two gigabytes of collected tests took seconds each time."""
    gc.collect()
    gc.freeze()
