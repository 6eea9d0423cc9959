"""A module with one line changed: what a test of that line must fail on."""

import sys
import types
from pathlib import Path


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
