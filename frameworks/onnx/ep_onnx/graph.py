"""A model as it is planned: nodes with their attributes read once, and where each name is needed last."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from onnx import AttributeProto, NodeProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from onnx import FunctionProto, GraphProto, SparseTensorProto, TensorProto, TypeProto

    Array = NDArray[Any]

__all__ = ["Function", "Graph", "Node", "Reference", "domain_of", "read_function", "read_graph"]

_GRAPHS: Final = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


@dataclass(frozen=True)
class Reference:
    """An attribute of a function's node that is the one of that name of the function's call."""

    name: str


@dataclass(frozen=True, eq=False)
class Node:
    """One operation of a model.

    overload        : which function of the model of that name, "" where it has one alone
    inputs, outputs : names, "" for one that is left out
    attributes      : values as Python has them; tensors as TensorProto, bodies as Graph
    version         : of the operator set that the operation is of
    proto           : ONNX's own object
    """

    op: str
    domain: str
    overload: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    version: int
    proto: NodeProto

    @property
    def key(self) -> tuple[str, str, str]:
        """What a function of the model that it calls is called: domain, name, overload."""
        return self.domain, self.op, self.overload

    @property
    def title(self) -> str:
        """The node's name in messages."""
        return f"{self.op} '{self.name or (self.outputs or ('',))[0]}'"

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or the default where the node has none of that name; text as str."""
        found = self.attributes.get(name, default)
        return found.decode() if isinstance(found, bytes) else found

    def called_with(self, attributes: Mapping[str, Any]) -> Node:
        """Return the node of a function's body for a call of the function with these attributes."""
        own, proto = {}, self.proto
        for name, given in self.attributes.items():
            if not isinstance(given, Reference):
                own[name] = given.called_with(attributes) if isinstance(given, Graph) else given
            elif given.name in attributes:
                own[name] = attributes[given.name]
        if any(isinstance(given, Reference) for given in self.attributes.values()):
            proto = NodeProto()
            proto.CopyFrom(self.proto)
            kept = [each for each in proto.attribute if not each.ref_attr_name]
            plain = [helper.make_attribute(name, own[name]) for name in own if name not in {each.name for each in kept}]
            del proto.attribute[:]
            proto.attribute.extend([*kept, *plain])
        return replace(self, attributes=own, proto=proto)


@dataclass(frozen=True, eq=False)
class Graph:
    """A model's graph, or a body of control flow.

    constants : initializers by name, as ONNX has them
    types     : of outputs, as ONNX declares them; none in functions
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    constants: Mapping[str, TensorProto | SparseTensorProto] = field(default_factory=dict)
    types: tuple[TypeProto, ...] = ()

    @functools.cached_property
    def reads(self) -> Mapping[str, int]:
        """How often each name is read: by nodes, in bodies of theirs, and as an output."""
        return Counter([*self.outputs, *[name for node in self.nodes for name in _reads(node)]])

    @functools.cached_property
    def last(self) -> Mapping[str, int]:
        """For each name that a node reads the place of the last one that does."""
        return {name: place for place, node in enumerate(self.nodes) for name in _reads(node)}

    def called_with(self, attributes: Mapping[str, Any]) -> Graph:
        """Return the body for a call of the function that it stands in."""
        return replace(self, nodes=tuple([node.called_with(attributes) for node in self.nodes]))


@dataclass(frozen=True, eq=False)
class Function:
    """Operations that have a name of their own: a body, and defaults for some of its attributes."""

    graph: Graph
    defaults: Mapping[str, Any]


def read_graph(graph: GraphProto, versions: Mapping[str, int]) -> Graph:
    """Return a graph with everything in it read.

    versions : of each domain the version of the operator set
    """
    initialised: dict[str, Any] = {tensor.name: tensor for tensor in graph.initializer}
    initialised |= {sparse.values.name: sparse for sparse in graph.sparse_initializer}
    inputs = tuple([each.name for each in graph.input if each.name not in initialised])
    nodes = tuple([_read_node(node, versions) for node in graph.node])
    outputs, types = [each.name for each in graph.output], [each.type for each in graph.output]
    return Graph(inputs, tuple(outputs), nodes, initialised, tuple(types))


def read_function(function: FunctionProto) -> Function:
    """Return a function of a model, or the body of one of ONNX's operations."""
    versions = {domain_of(each.domain): each.version for each in function.opset_import}
    nodes = tuple([_read_node(node, versions) for node in function.node])
    defaults = {each.name: _read_attribute(each, versions) for each in function.attribute_proto}
    return Function(Graph(tuple(function.input), tuple(function.output), nodes), defaults)


def domain_of(domain: str) -> str:
    """Return the name of a domain, "" for ONNX's own."""
    return "" if domain == "ai.onnx" else domain


def _read_node(node: NodeProto, versions: Mapping[str, int]) -> Node:
    domain = domain_of(node.domain)
    attributes = {each.name: _read_attribute(each, versions) for each in node.attribute}
    return Node(
        node.op_type,
        domain,
        node.overload,
        node.name,
        tuple(node.input),
        tuple(node.output),
        attributes,
        versions.get(domain, 1),
        node,
    )


def _read_attribute(attribute: AttributeProto, versions: Mapping[str, int]) -> Any:
    if attribute.ref_attr_name:
        return Reference(attribute.ref_attr_name)
    if attribute.type in _GRAPHS:
        bodies: Sequence[Any] = [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs
        read = [read_graph(each, versions) for each in bodies]
        return read[0] if attribute.type == AttributeProto.GRAPH else read
    if attribute.type == AttributeProto.TENSOR:
        return numpy_helper.to_array(attribute.t)
    return helper.get_attribute_value(attribute)


def _reads(node: Node) -> Iterator[str]:
    yield from node.inputs
    for given in node.attributes.values():
        if isinstance(given, Graph):
            yield from given.reads
