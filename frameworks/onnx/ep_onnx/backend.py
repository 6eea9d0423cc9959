"""ONNX's backend interface, on any device of EP, for its test suite and its users.

class OnnxTest(onnx.backend.test.BackendTest) ...  # BackendTest(ep_onnx.Backend, __name__)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnx
from onnx import helper
from onnx.backend import base

import ep
from ep_onnx.errors import ModelError
from ep_onnx.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import ModelProto, NodeProto

__all__ = ["Backend", "Prepared", "device_name"]

_KINDS: Final = {"CPU": "cpu", "CUDA": "cuda"}


def device_name(device: str | None = None) -> str:
    """Return the name of the device of EP that is meant.

    device : EP's ("opencl:0") or ONNX's ("CPU", "CUDA:1") name; None or "CPU": the variable EP_DEVICE's, else cpu:0
    """
    chosen = os.environ.get("EP_DEVICE", "")
    if device is None or (device == "CPU" and chosen):
        return chosen or "cpu:0"
    kind, _, number = device.partition(":")
    return f"{_KINDS.get(kind, kind)}:{number or 0}"


class Prepared(base.BackendRep):
    """A model on a device. `run` gives a tuple of NumPy arrays; lists for sequences, None for an absent value."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """Return the outputs for arrays by name, or one for each input in order; a single array is the one input."""
        given = inputs if hasattr(inputs, "keys") or isinstance(inputs, (list, tuple)) else [inputs]
        return tuple(self.session.run(given))


class Backend(base.Backend):
    """ONNX's interface. Devices go by EP's names, by ONNX's, or by the variable EP_DEVICE.

    Raises Session's errors, and ep.UnavailableError for a device that is not there.
    """

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **_: Any) -> bool:
        """Return True if the model can be read and the device is there; planning checks the needs of single nodes."""
        try:
            cls.prepare(model, device)
        except (ep.EpError, ValueError):
            return False
        return True

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **_: Any) -> Prepared:
        """Return the model on a device."""
        return Prepared(Session(model, ep.device(device_name(device))))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **words: Any) -> tuple[Any, ...]:
        """Run a model once."""
        return cls.prepare(model, device, **words).run(inputs)

    @classmethod
    def run_node(
        cls, node: NodeProto, inputs: Any, device: str = "CPU", outputs_info: Sequence[Any] | None = None, **words: Any
    ) -> tuple[Any, ...]:
        """Run one operation of the newest operator set, or of the one that the keyword opset_version names."""
        version = words.get("opset_version", onnx.defs.onnx_opset_version())
        arrays = [*inputs.values()] if hasattr(inputs, "keys") else [np.asarray(each) for each in inputs]
        names = [name for name in node.input if name]
        if len(arrays) != len(names):
            message = f"{node.op_type}: {len(arrays)} inputs are given, the node reads {len(names)}: {', '.join(names)}"
            raise ModelError(message)
        given = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
            for name, each in zip(names, arrays, strict=True)
        ]
        made = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
        imports = [helper.make_opsetid(node.domain, 1)] if node.domain else []
        model = helper.make_model(
            helper.make_graph([node], "node", given, made), opset_imports=[helper.make_opsetid("", version), *imports]
        )
        del outputs_info
        return cls.run_model(model, arrays, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Say whether the device is on this machine."""
        try:
            ep.device(device_name(device))
        except (ep.EpError, ValueError):
            return False
        return True
