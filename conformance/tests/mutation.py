"""Planted defects: a module with one line changed, and the element types that a defect is tried in."""

import sys
import types
from pathlib import Path

import pytest


def mutated(module, old, new):
    """Return a copy of a module in whose source `old`, which stands there once, is replaced."""
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {module.__name__}"
    copy = types.ModuleType(module.__name__)
    copy.__file__ = module.__file__
    original = sys.modules[module.__name__]
    sys.modules[module.__name__] = copy  # dataclasses look their module up
    try:
        exec(compile(source.replace(old, new), module.__file__, "exec"), vars(copy))
    finally:
        sys.modules[module.__name__] = original
    return copy


def in_turn(defects):
    """Yield each defect with each of its element types: every day with one, of the next defect the next one, and thorough with all."""
    for number, (defect, dtypes) in enumerate(defects):
        for place, dtype in enumerate(dtypes):
            is_today = place == number % len(dtypes)
            yield pytest.param(defect, dtype, marks=[] if is_today else [pytest.mark.thorough])
