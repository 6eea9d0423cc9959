"""The tests of the package onnx, each with its model, inputs and what it must give."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnx
from onnx import ModelProto, OptionalProto, SequenceProto, TensorProto

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["KINDS", "Case", "cases"]

KINDS: Final = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")

_PROTOS: Final[Mapping[str, type[SequenceProto | OptionalProto]]] = {
    "sequence_type": SequenceProto,
    "optional_type": OptionalProto,
}
"""What an operand is stored as that is no tensor."""


@dataclass(frozen=True, eq=False)
class Case:
    """One test: a model, and for each set of inputs what it must give."""

    name: str
    kind: str
    model: ModelProto
    sets: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float

    @property
    def op(self) -> str:
        """What the test is about: of a node test its operation."""
        name = self.name.removesuffix("_expanded")
        ops = [node.op_type for node in self.model.graph.node]
        return ops[0] if len(ops) == 1 and name == self.name else _OPS.get(name, ops[-1] if ops else "")


_OPS: dict[str, str] = {}
"""What the node tests are about, whose models have been taken apart into several operations."""


def cases(kinds: Iterable[str] = KINDS) -> Iterator[Case]:
    """Yield ONNX's tests."""
    loader = importlib.import_module("onnx.backend.test.loader")
    for kind in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = loader.load_model_tests(kind=kind)
        for each in found:
            if kind == "real":
                yield _light(each)
            elif kind == "node":
                _OPS.setdefault(each.name, each.model.graph.node[0].op_type)
                yield Case(each.name, kind, each.model, each.data_sets, each.rtol, each.atol)
            else:
                yield _stored(each, kind)


def _stored(each: Any, kind: str) -> Case:
    folder = Path(each.model_dir)
    model = onnx.load(folder / "model.onnx")
    sets = []
    for data in sorted(folder.glob("test_data_set_*")):
        both = []
        for side, infos in (("input", model.graph.input), ("output", model.graph.output)):
            read = []
            for place, path in enumerate(
                sorted(data.glob(f"{side}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
            ):
                proto = _PROTOS.get(infos[place].type.WhichOneof("value"), TensorProto)()
                proto.ParseFromString(path.read_bytes())
                read.append(proto)
            both.append(read)
        sets.append((both[0], both[1]))
    return Case(each.name, kind, model, sets, each.rtol, each.atol)


def _light(each: Any) -> Case:
    """Return a light model with the input that ONNX's runner gives it."""
    path = Path(onnx.__file__).parent.parent / each.url
    model = onnx.load(path)
    initialised = {tensor.name for tensor in model.graph.initializer}
    inputs = []
    for info in model.graph.input:
        if info.name not in initialised:
            shape = tuple([each.dim_value or 1 for each in info.type.tensor_type.shape.dim])
            count = int(np.prod(shape))
            inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    output = TensorProto.FromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes())
    return Case(each.name, "real", model, [(inputs, [output])], each.rtol, each.atol)
