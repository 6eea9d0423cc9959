"""How ONNX's operations are done: a rule writes the steps of one, in primitives and views."""

from __future__ import annotations

import importlib
import pkgutil

from ep_onnx.rules.rule import RULES

__all__ = ["RULES"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
