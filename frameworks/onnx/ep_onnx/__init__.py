"""ONNX models on any device of EP.

session = ep_onnx.Session("model.onnx", ep.device("cpu:0"))
outputs = session.run({"x": array})
"""

from __future__ import annotations

from ep_onnx.backend import Backend, Prepared, device_name
from ep_onnx.errors import LackingError, ModelError
from ep_onnx.session import Session

__all__ = ["Backend", "LackingError", "ModelError", "Prepared", "Session", "device_name"]
