"""The interpreter walks over a model's nodes: constants are folded, rules write steps, functions give way to their bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnx
from onnx import TypeProto, helper
from onnx.reference import ReferenceEvaluator

from ep import EpError
from ep_onnx.errors import LackingError, ModelError
from ep_onnx.graph import Function, read_function
from ep_onnx.model import initializer
from ep_onnx.rules import RULES
from ep_onnx.rules.rule import counted
from ep_onnx.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_onnx.graph import Graph, Node
    from ep_onnx.trace import Trace

__all__ = ["Call", "Interpreter"]

_UNFOLDED: Final = frozenset(
    [
        *("If", "Loop", "Scan", "SequenceMap", "Dropout", "Bernoulli", "Multinomial", "ImageDecoder"),
        *("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"),
        *("Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "LRN", "ReduceSumSquare"),
        *("Slice", "Shape", "BatchNormalization"),
    ]
)
"""Operations that give other values each time, or have a body, and such as ONNX's reference has wrong: softmaxes of rows that are
several dimensions (operator sets before 13), norms of order 1, neighbours of channels whose number is beyond that of the images, the type of a sum of squares,
a start before the first element of a slice that goes backwards, an end of a shape before its first dimension, the statistics of a batch (operator set 9)."""

_FEW: Final = 1024
"""Elements up to which a content that the host has read may be one that shapes follow from."""


class Interpreter:
    """Writes a model's steps into traces. Keeps results that are the same for all traces.

    functions : of the model, by domain, name and overload
    """

    def __init__(self, functions: Mapping[tuple[str, str, str], Function]) -> None:
        self._functions = functions
        self._folded: dict[tuple[int, ...], tuple[Node, tuple[Any, ...], list[Any]]] = {}
        self._bodies: dict[Any, Function] = {}
        self._followed: dict[Any, tuple[Any, Value]] = {}
        self._called: dict[int, tuple[Node, Function, Graph]] = {}
        self._constants: dict[int, tuple[Mapping[str, Any], Mapping[str, Value]]] = {}

    def run(
        self,
        graph: Graph,
        do: Trace,
        names: Mapping[str, Any],
        outer: _Scope | None = None,
        watch: Callable[[int, Node], None] | None = None,
    ) -> list[Any]:
        """Write the steps of a graph, and return its outputs.

        names : values of the graph's inputs and constants
        outer : values of names around a body
        watch : called with each node and its place in the graph, before its steps are written
        """
        scope = _Scope(names, outer)
        for place, node in enumerate(graph.nodes):
            if watch is not None:
                watch(place, node)
            inputs = [scope[name] if name else None for name in node.inputs]
            made = self._node(node, do, inputs, scope, graph)
            scope.put(node, made)
            del inputs, made
            for name in node.inputs:
                if name and graph.last[name] == place and name not in graph.outputs:
                    scope.drop(name)
        return [scope[name] for name in graph.outputs]

    def _node(self, node: Node, do: Trace, inputs: list[Any], scope: _Scope, graph: Graph) -> Sequence[Any]:
        before, do.node = do.node, node
        try:
            return self._made(node, do, inputs, scope, graph)
        except (ModelError, LackingError):
            raise
        except (ValueError, TypeError, IndexError) as error:
            raise _misfit(node, str(error), inputs) from error
        except (EpError, MemoryError):
            raise
        except KeyError as error:
            raise _misfit(node, f"{error} is none of what this may be, or is missing", inputs) from error
        except Exception as error:  # a damaged model breaks a rule anywhere
            raise _misfit(node, f"{type(error).__name__}: {error}", inputs) from error
        finally:
            do.node = before

    def _made(self, node: Node, do: Trace, inputs: list[Any], scope: _Scope, graph: Graph) -> Sequence[Any]:
        while inputs and inputs[-1] is None:
            inputs.pop()
        folded = self._fold(node, inputs)
        if folded is not None:
            return folded
        rule = RULES.get((node.domain, node.op))
        if rule is not None:
            made = rule(do, Call(self, do, node, scope, graph), *inputs)
            if made is not NotImplemented:
                return made if isinstance(made, tuple) else (made,)
        function = self._function(node, inputs)
        if function is None:
            message = (
                f"{node.title}: {_reason(node, inputs)}; a rule for it, or a body as a function of the model, would do"
            )
            unknown = [each for each in graph.nodes if not self._knows(each)]
            others = sorted({each.op for each in unknown} - {node.op})
            more = f"\nwithout a rule as well: {', '.join(others)}" if others else ""
            raise LackingError(message + more, [f"{each.title}: rule/-" for each in unknown], do.steps)
        body = self._called_body(node, function)
        given = dict(zip(body.inputs, [*inputs, *[None] * len(body.inputs)], strict=False))
        wanted = [name for name, own in zip(body.outputs, node.outputs, strict=False) if own]
        found = dict(zip(wanted, self.run(replace(body, outputs=tuple(wanted)), do, given), strict=True))
        return [found.get(name) for name in body.outputs]

    def lasting(self, key: str, make: Callable[[], Any], *values: Value | None) -> Value:
        """Return a constant that follows from constants. See Call.lasting."""
        whole = (key, *map(id, values))
        if whole in self._followed:
            return self._followed[whole][1]
        made = Value.of(make())
        made.is_lasting = all(each is None or each.is_lasting for each in values)
        if made.is_lasting:
            self._followed[whole] = values, made
        return made

    def constants(self, graph: Graph) -> Mapping[str, Value]:
        """Return the values of a body's initializers, the same ones each time that it runs."""
        kept = self._constants.get(id(graph.constants))
        if kept is None:
            kept = graph.constants, {name: initializer(name, tensor) for name, tensor in graph.constants.items()}
            self._constants[id(graph.constants)] = kept
        return kept[1]

    def _called_body(self, node: Node, function: Function) -> Graph:
        """Return the body of a function for one node that calls it, the same one each time."""
        kept = self._called.get(id(node))
        if kept is None or kept[1] is not function:
            kept = node, function, function.graph.called_with({**function.defaults, **node.attributes})
            self._called[id(node)] = kept
        return kept[2]

    def _fold(self, node: Node, inputs: list[Any]) -> list[Any] | None:
        """Return the results of a node of constants, computed on the host; None if it is none, or the host cannot."""
        if node.op in _UNFOLDED or not all(each is None or _is_constant(each) for each in inputs):
            return None
        is_read = any(each is not None and each.is_read for each in inputs)
        if is_read and not all(each is None or _is_shape(each) for each in inputs):
            return None
        key = (id(node), *map(id, inputs))
        if key in self._folded:
            return self._folded[key][2]
        given = dict(zip(node.inputs, inputs, strict=False))
        try:
            arrays = _evaluated(node, {name: each.array for name, each in given.items() if each is not None})
            if any(isinstance(each, list) for each in arrays):
                return None
            made = [Value.read(np.asarray(each), node.title) for each in arrays]
        except Exception:  # noqa: BLE001 - a rule may know an operation that the reference does not
            return None
        if is_read and not all(map(_is_shape, made)):
            return None
        for each in made:
            each.is_read = is_read
        if all(each is None or each.is_lasting for each in inputs):
            for each in made:
                each.is_lasting = True
            self._folded[key] = node, tuple(inputs), made
        return made

    def _knows(self, node: Node) -> bool:
        """Say whether there is a rule or a body for the operation of a node."""
        if (node.domain, node.op) in RULES or node.key in self._functions:
            return True
        try:
            schema: Any = onnx.defs.get_schema(node.op, node.version, node.domain)
        except onnx.defs.SchemaError:
            return False
        return bool(schema.has_function or schema.has_context_dependent_function)

    def _function(self, node: Node, inputs: list[Any]) -> Function | None:
        own = self._functions.get(node.key)
        if own is not None:
            return own
        try:
            schema: Any = onnx.defs.get_schema(node.op, node.version, node.domain)
        except onnx.defs.SchemaError:
            return None
        read = _body(schema, node, inputs)
        if read is None:
            return None
        key = node.op, node.domain, node.version, read  # one body for all shapes: what follows from its nodes is kept
        if key not in self._bodies:
            own = read_function(onnx.FunctionProto.FromString(read))
            usual = {
                name: helper.get_attribute_value(each.default_value)
                for name, each in schema.attributes.items()
                if each.default_value.name
            }
            self._bodies[key] = replace(own, defaults={**usual, **own.defaults})
        return self._bodies[key]


class Call:
    """A rule's second argument, between the trace and the inputs: the node, and the way into bodies of control flow."""

    def __init__(self, interpreter: Interpreter, do: Trace, node: Node, scope: _Scope, graph: Graph) -> None:
        self.node = node
        self._do = do
        self._graph = graph
        self._interpreter = interpreter
        self._scope = scope

    @property
    def version(self) -> int:
        """Of the operator set that the node is of."""
        return self.node.version

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the node, or the default."""
        return self.node.get(name, default)

    def axis(self, rank: int, default: int, name: str = "axis") -> int:
        """Return an attribute that names one of so many dimensions. Raises ValueError where it names none."""
        return counted(self.get(name, default), rank)

    def owns(self, place: int) -> bool:
        """Return True if only this node reads one of its inputs, so that the input need not be computed alone."""
        return self._graph.reads[self.node.inputs[place]] == 1

    def lasting(self, key: str, make: Callable[[], Any], *values: Value | None) -> Value:
        """Return a constant that follows from constants, the same one for all plans if all of them last.

        key, values : all that it follows from: a name and what attributes of the node decide, and the constants that it is made of
        make        : returns its content
        """
        return self._interpreter.lasting(key, make, *values)

    def reference(self, arrays: Sequence[Any]) -> tuple[Value, ...]:
        """Return the results of ONNX's reference for the contents of the inputs, on the host."""
        given = dict(zip(self.node.inputs, arrays, strict=False))
        made = _evaluated(self.node, {name: each for name, each in given.items() if each is not None})
        results = [Value.read(np.asarray(each), self.node.title) for each in made]
        for each in results:
            each.is_read = True
        return tuple(results)

    def body(self, name: str, *inputs: Any) -> list[Any]:
        """Write the steps of a body that is an attribute of the node, and return its outputs."""
        graph = self.node.attributes[name]
        names = {**dict(zip(graph.inputs, inputs, strict=True)), **self._interpreter.constants(graph)}
        return self._interpreter.run(graph, self._do, names, self._scope)


class _Scope:
    """The values of names in a graph; other names have their values in the scope around it."""

    def __init__(self, names: Mapping[str, Any], outer: Any) -> None:
        self._names = dict(names)
        self._outer = outer

    def __getitem__(self, name: str) -> Any:
        if name in self._names:
            return self._names[name]
        if self._outer is None:
            message = f"name '{name}' is read and nothing made it; the model is damaged"
            raise ModelError(message)
        return self._outer[name]

    def put(self, node: Node, made: Sequence[Any]) -> None:
        """Give the names of a node's outputs their values."""
        for name, value in zip(node.outputs, made, strict=False):
            if name:
                self._names[name] = value

    def drop(self, name: str) -> None:
        """Forget a name of this graph that no later node reads."""
        self._names.pop(name, None)


def _body(schema: Any, node: Node, inputs: Sequence[Any]) -> bytes | None:
    """Return the body that ONNX gives one of its operations, the newest that its operator set has."""
    versions = schema.function_opset_versions if schema.has_function else []
    if not schema.has_function and schema.has_context_dependent_function:
        versions = schema.context_dependent_function_opset_versions
    known = [version for version in versions if version <= node.version]
    if not known:
        return None
    if schema.has_function:
        return bytes(schema.get_function_with_opset_version(max(known)))
    types = [_type(each).SerializeToString() for each in inputs]
    whole = node.proto.SerializeToString()
    return bytes(schema.get_context_dependent_function_with_opset_version(max(known), whole, types))


def _is_shape(value: Value) -> bool:
    """Say whether a content is one that shapes follow from: a few whole numbers. Others are computed on the device."""
    return value.size <= _FEW and value.dtype.startswith(("int", "uint", "bool"))


def _is_constant(value: Any) -> bool:
    return isinstance(value, Value) and value.array is not None and value.element is None


def _evaluated(node: Node, arrays: dict[str, Any]) -> Sequence[Any]:
    """Return the results of ONNX's reference."""
    names = [name for name in node.outputs if name]
    given = [helper.make_value_info(name, TypeProto()) for name in arrays]
    graph = helper.make_graph(
        [node.proto], "fold", given, [helper.make_value_info(name, TypeProto()) for name in names]
    )
    found = dict(zip(names, ReferenceEvaluator(graph, {node.domain: node.version}).run(None, arrays), strict=True))
    return [found[name] if name else np.empty(0) for name in node.outputs]


def _type(value: Any) -> TypeProto:
    if isinstance(value, list):
        return helper.make_sequence_type_proto(_type(value[0]) if value else helper.make_tensor_type_proto(1, None))
    if not isinstance(value, Value):
        return TypeProto()
    element = value.element or helper.np_dtype_to_tensor_dtype(
        np.dtype(value.array.dtype if value.array is not None else _np(value.dtype))
    )
    return helper.make_tensor_type_proto(element, value.shape)


def _np(dtype: str) -> Any:
    import ml_dtypes  # noqa: PLC0415 - the package is there

    return getattr(ml_dtypes, dtype, dtype)


def _described(inputs: Sequence[Any]) -> str:
    return (
        ", ".join(f"{each.dtype}{list(each.shape)}" if isinstance(each, Value) else "absent" for each in inputs)
        or "none"
    )


def _misfit(node: Node, what: str, inputs: Sequence[Any]) -> ModelError:
    return ModelError(f"{node.title}: {what}; see that the model fits its inputs, which are {_described(inputs)}")


def _reason(node: Node, inputs: Sequence[Any]) -> str:
    where = f"domain '{node.domain}', " if node.domain else ""
    return f"no rule for it ({where}opset {node.version}, inputs {_described(inputs)})"
