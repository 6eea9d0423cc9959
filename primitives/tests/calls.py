"""The calls that each family gives as examples, by family."""

import importlib

from ep_primitives.families import folders

CALLS = {}
for _folder in folders():
    for _call in importlib.import_module(f"{_folder}.calls").CALLS:
        CALLS.setdefault(_call.kind.family, []).append(_call)
