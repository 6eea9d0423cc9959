"""Reading a model: from a file, bytes or a ModelProto, checked before anything is planned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import onnx
from google.protobuf.message import DecodeError
from onnx import external_data_helper, numpy_helper

from ep import EpError
from ep_onnx.elements import dtype_of, narrow
from ep_onnx.errors import ModelError
from ep_onnx.graph import domain_of, read_function, read_graph
from ep_onnx.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx import ModelProto, SparseTensorProto, TensorProto, TypeProto, ValueInfoProto

    from ep_onnx.graph import Function, Graph

__all__ = ["Declared", "Model", "initializer", "read_model"]

OLDEST: Final = 7
"""The oldest operator set that is read: older ones broadcast by attributes."""


class Declared:
    """A model's declaration of one input.

    dtype   : of EP, None if it is no tensor
    element : ONNX's element type if EP's holds a narrower one
    shape   : extents, of which open ones are names or None; None for any rank
    kind    : "tensor_type", "sequence_type", "optional_type" or another one of ONNX
    items   : of EP, of the tensors in a sequence or an optional value; None if the model leaves that open
    """

    def __init__(self, info: ValueInfoProto) -> None:
        self.name = info.name
        self.dtype: str | None = None
        self.element: int | None = None
        self.shape: tuple[int | str | None, ...] | None = None
        self.kind = info.type.WhichOneof("value")
        if self.kind == "tensor_type":
            tensor = info.type.tensor_type
            self.dtype = dtype_of(tensor.elem_type, f"input '{info.name}'")
            self.element = narrow(tensor.elem_type)
            if tensor.HasField("shape"):
                self.shape = tuple([_extent(each) for each in tensor.shape.dim])
        item = _innermost(info.type).elem_type if self.dtype is None else 0
        self.items: str | None = dtype_of(item, f"input '{info.name}'") if item else None


class Model:
    """A model that was read and checked.

    constants : initializers by name
    inputs    : of the graph, in order
    defaults  : inputs that an initializer stands for, unless they are given
    outputs   : their names
    """

    def __init__(self, proto: ModelProto) -> None:
        versions = {domain_of(each.domain): each.version for each in proto.opset_import}
        _check_versions(versions, proto)
        self.graph: Graph = read_graph(proto.graph, versions)
        self.functions: Mapping[tuple[str, str, str], Function] = {
            (domain_of(each.domain), each.name, each.overload): read_function(each) for each in proto.functions
        }
        self.inputs = [Declared(each) for each in proto.graph.input if each.name in self.graph.inputs]
        self.defaults = [Declared(each) for each in proto.graph.input if each.name in self.graph.constants]
        self.outputs = [each.name for each in proto.graph.output]
        self.constants: dict[str, Value] = {}
        for name, tensor in self.graph.constants.items():
            self.constants[name] = initializer(name, tensor)


def read_model(source: Any) -> Model:
    """Return a model, given a path, bytes or a ModelProto.

    Weights beside the file are read from its folder and from below it, never from elsewhere. Raises ModelError if it
    cannot be read or is no model, LackingError for types that EP cannot hold.
    """
    proto = source
    if isinstance(source, (str, Path)):
        proto = _loaded(Path(source))
    elif isinstance(source, bytes):
        proto = _parsed(source, "the model")
    if len(proto.graph.node) == len(proto.graph.output) == 0:
        message = "the model has no nodes and no outputs; it is damaged, or no ONNX model"
        raise ModelError(message)
    for tensor in _tensors(proto):
        if external_data_helper.uses_external_data(tensor):
            message = f"the weights of '{tensor.name}' lie in a file beside the model, which has no folder; give the path of the model"
            raise ModelError(message)
    try:
        return Model(proto)
    except EpError:
        raise
    except Exception as error:
        message = f"the model cannot be read: {type(error).__name__}: {error}; it is damaged, export it again"
        raise ModelError(message) from error


def _loaded(path: Path) -> ModelProto:
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"{path}: {error.strerror or error}; give the path of a model"
        raise ModelError(message) from None
    proto = _parsed(data, str(path))
    folder = path.resolve().parent
    outside = [tensor for tensor in _tensors(proto) if external_data_helper.uses_external_data(tensor)]
    for tensor in outside:
        _check_location(tensor, folder, path)
    try:
        for tensor in outside:
            external_data_helper.load_external_data_for_tensor(tensor, str(folder))
            tensor.data_location = onnx.TensorProto.DEFAULT
            del tensor.external_data[:]
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        message = f"{path}: weights beside the model cannot be read: {error}; put their files into the model's folder"
        raise ModelError(message) from None
    return proto


def _parsed(data: bytes, where: str) -> ModelProto:
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        message = f"{where}: this is no ONNX model, or a damaged one: it cannot be decoded; export or download it again"
        raise ModelError(message) from None
    if not proto.opset_import:
        message = f"{where}: the model names no operator set; it is damaged, or no ONNX model; export it again"
        raise ModelError(message)
    return proto


def _tensors(proto: ModelProto) -> Iterator[TensorProto]:
    """Yield all tensors of a model, those of its functions too."""
    yield from _tensors_of(proto.graph)
    for function in proto.functions:
        yield from _tensors_of_nodes(function.node)
        yield from _tensors_of_attributes(function.attribute_proto)


def _tensors_of(graph: onnx.GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _tensors_of_nodes(graph.node)


def _tensors_of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[TensorProto]:
    for node in nodes:
        yield from _tensors_of_attributes(node.attribute)


def _tensors_of_attributes(attributes: Iterable[onnx.AttributeProto]) -> Iterator[TensorProto]:
    for attribute in attributes:
        yield from [*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors]
        for sparse in [
            *([attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []),
            *attribute.sparse_tensors,
        ]:
            yield from (sparse.values, sparse.indices)
        for body in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            yield from _tensors_of(body)


def _check_location(tensor: TensorProto, folder: Path, path: Path) -> None:
    """Refuse weights that lie anywhere but in the model's folder and below it."""
    location = next((each.value for each in tensor.external_data if each.key == "location"), "")
    if not location or not (folder / location).resolve().is_relative_to(folder):
        message = f"{path}: the weights of '{tensor.name}' lie at {location!r}, outside the model's folder; only files in it are read: move them there"
        raise ModelError(message)


def _check_versions(versions: Mapping[str, int], proto: ModelProto) -> None:
    """Refuse operator sets that are not known; of older ones than OLDEST all operations but those that are still the same."""
    version, newest = versions.get("", OLDEST), onnx.defs.onnx_opset_version()
    changed = [
        node.op_type for node in proto.graph.node if version < OLDEST and _since(node, version) != _since(node, OLDEST)
    ]
    if version > newest or version < 1 or changed:
        what = f", whose {changed[0]} is not the one of {OLDEST}" if changed else ""
        message = f"the model is of operator set {version}{what}, needs {OLDEST} to {newest}; export it for one of these, or install another onnx"
        raise ModelError(message)


def _since(node: onnx.NodeProto, version: int) -> int:
    try:
        return int(onnx.defs.get_schema(node.op_type, version, node.domain).since_version)
    except onnx.defs.SchemaError:
        return 0


def initializer(name: str, tensor: TensorProto | SparseTensorProto) -> Value:
    """Return the value of an initializer of a graph, or of a body. Raises ModelError or LackingError for such as cannot be read."""
    where = f"initializer '{name}'"
    try:
        array = numpy_helper.to_array(tensor) if isinstance(tensor, onnx.TensorProto) else _dense(tensor)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        message = (
            f"{where}: its {list(tensor.dims)} elements cannot be read: {error}; the model is damaged, export it again"
        )
        raise ModelError(message) from None
    value = Value.read(array, where)
    value.is_lasting = True
    return value


def _dense(sparse: SparseTensorProto) -> Any:
    import numpy as np  # noqa: PLC0415 - rare

    values, places = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    if places.ndim == 1:
        dense.reshape(-1)[places] = values
    else:
        dense[tuple(places.T)] = values
    return dense


def _innermost(kind: TypeProto) -> TypeProto.Tensor:
    """Return the type of the tensors in sequences and optional values."""
    while kind.WhichOneof("value") in {"sequence_type", "optional_type"}:
        kind = (kind.sequence_type if kind.HasField("sequence_type") else kind.optional_type).elem_type
    return kind.tensor_type


def _extent(dimension: Any) -> int | str | None:
    if dimension.HasField("dim_value"):
        return int(dimension.dim_value)
    return dimension.dim_param or None
