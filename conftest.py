"""Imports `ep` before pytest sees the folder of the same name, asks for the repair of PoCL, keeps collections short and few, and times no example."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

import ep  # noqa: F401 - the import is the purpose

gc.set_threshold(20_000)  # with 700, a tenth of the time of tests that list many cases went into collections

os.environ.setdefault("EP_POCL_PROCESSOR", "auto")  # else PoCL compiles nothing on processors newer than its LLVM

# How long an example takes decides no test: a machine may be busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="module")
def _short_collections() -> None:
    """Set aside what is alive before each file: some tests collect, and two gigabytes of collected tests took seconds each time."""
    gc.collect()
    gc.freeze()
