"""A Session is a model on a device: planned once for each set of input shapes, then run."""

from __future__ import annotations

from collections.abc import Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import numpy as np
from ep_primitives import Generator
from ep_primitives.families.random_fill.descriptor import STATE

from ep import TensorSpec
from ep_onnx.elements import held
from ep_onnx.errors import ModelError
from ep_onnx.interpreter import Interpreter
from ep_onnx.model import Model, read_model
from ep_onnx.plan import Plan
from ep_onnx.value import Buffer, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    import ep
    from ep_onnx.graph import Node
    from ep_onnx.model import Declared
    from ep_onnx.trace import Trace

    Array = NDArray[Any]

__all__ = ["Session"]

_SMALL: Final = 4096
_MOST_PLANS: Final = 16


class Session:
    """A model on a device. Threads may share it: their runs come one after the other.

    source : a path, bytes or a ModelProto
    device : an ep.Device
    seed   : of random numbers, in place of the seeds of the model's nodes
    states : names of inputs that stay on the device from run to run, such as a cache of keys and values, each with the
             name of the output that is its next content. They are zeros at first, have fixed shapes, are written in
             place where the model allows, and are neither given to `run` nor returned by it

    watch  : called with the place of each node of the model and the node, before it is planned

    `run` plans where inputs have shapes, or contents that shapes depend on, which no run before had; the plans of the latest 16
    shapes are kept, and for each the latest 16 contents.
    Raises ModelError and LackingError as `read_model` does.

    weights_nbytes : of the constants that were uploaded so far
    """

    def __init__(
        self,
        source: Any,
        device: ep.Device,
        states: Mapping[str, str] | None = None,
        *,
        seed: int = 0,
        watch: Callable[[int, Node], None] | None = None,
    ) -> None:
        self.device = device
        self.model: Model = source if isinstance(source, Model) else read_model(source)
        self.plans: dict[Any, Plan] = {}
        self._stream = device.stream()
        self._lock = RLock()
        self._interpreter = Interpreter(self.model.functions)
        self._uploaded: WeakValueDictionary[tuple[str, tuple[int, ...], bytes], ep.Memory] = WeakValueDictionary()
        self.weights_nbytes = 0
        self._seed = seed
        self._watch = watch
        self._generator: Generator | None = None
        self._states = {name: self._state(name, output) for name, output in (states or {}).items()}
        self.reset()

    def run(self, inputs: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
        """Return the outputs as NumPy arrays, in the model's order; None for those that are states.

        inputs : arrays by name, or one for each of the model's inputs in order; lists for sequences, None if absent. Those that an
                 initializer stands for may be given by name

        Raises ModelError for inputs that do not fit, LackingError if the device lacks a cell, and the device's errors.
        """
        with self._lock:
            return self._run(self._given(inputs))

    def _run(self, given: Mapping[str, Any]) -> list[Any]:
        arrays = {name: each for name, each in given.items() if isinstance(each, np.ndarray)}
        key = tuple([(name, each.dtype.name, each.shape) for name, each in arrays.items()])
        others = {name: each for name, each in given.items() if not isinstance(each, np.ndarray)}
        if others:
            return self._planned(arrays, others).run(arrays)
        plan = self.plans.pop(key, None)
        if plan is None:
            plan = self._planned(arrays, {})
            while len(self.plans) >= _MOST_PLANS:
                self.plans.pop(next(iter(self.plans))).close()
        self.plans[key] = plan
        return plan.run(arrays)

    def reset(self) -> None:
        """Fill the states with zeros."""
        with self._lock:
            for tensor, _ in self._states.values():
                self._stream.fill(tensor.memory, b"\0")

    def state(self, name: str) -> Array:
        """Return a copy of a state's content."""
        with self._lock:
            return self._states[name][0].numpy(self._stream)

    def close(self) -> None:
        """Let go of plans and weights. Idempotent."""
        with self._lock:
            for plan in self.plans.values():
                plan.close()
            self.plans.clear()
            self._stream.close()

    def _state(self, name: str, output: str) -> tuple[ep.Tensor, int]:
        """Return the memory of a state, and the place of the output that follows it."""
        found = {each.name: each for each in self.model.inputs}.get(name)
        if found is None or output not in self.model.outputs:
            what = f"input '{name}'" if found is None else f"output '{output}'"
            message = f"states: the model has no {what}; it has {', '.join(each.name for each in self.model.inputs)} and gives {', '.join(self.model.outputs)}"
            raise ModelError(message)
        extents = [each for each in found.shape or () if isinstance(each, int)]
        if found.dtype is None or found.shape is None or len(extents) < len(found.shape):
            message = f"states: input '{name}' has shape {found.shape and _shape(found.shape)}, needs a fixed one; export the model with a capacity"
            raise ModelError(message)
        return self.device.empty(found.dtype, extents), self.model.outputs.index(output)

    def _planned(self, arrays: Mapping[str, Array], others: Mapping[str, Any]) -> Plan:
        shapes = {name: TensorSpec(each.dtype.name, each.shape) for name, each in arrays.items()}
        narrow = {each.name: each.element for each in (*self.model.inputs, *self.model.defaults)}

        def program(do: Trace, values: Mapping[str, Value]) -> list[Any]:
            for name, value in values.items():
                value.element = narrow[name]
            names = {**self.model.constants, **values, **_sequences(others)}
            return self._interpreter.run(self.model.graph, do, names, watch=self._watch)

        return Plan(self._stream, program, self._upload, shapes, self._states, self._random)

    def _random(self) -> Value:
        """Return the state of random numbers, which is made when the first node asks for it."""
        if self._generator is None:
            self._generator = Generator(self.device, self._seed)
        buffer = Buffer(STATE.nbytes)
        buffer.memory = self._generator.state
        return Value(STATE, buffer)

    def _upload(self, value: Value) -> ep.Memory:
        array = value.array
        assert array is not None
        is_small = array.nbytes <= _SMALL
        key = (array.dtype.name, array.shape, array.tobytes()) if is_small else ("", (), b"")
        kept = self._uploaded.get(key) if is_small else None
        if kept is not None:
            return kept
        memory = self.device.allocate(value.spec.nbytes)
        self.weights_nbytes += value.spec.nbytes
        if value.size:
            self._stream.upload(memory, np.ascontiguousarray(array), constant=True)
            memory.freeze()
        if is_small:
            self._uploaded[key] = memory
        return memory

    def _given(self, inputs: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
        declared = [each for each in self.model.inputs if each.name not in self._states]
        defaults = self.model.defaults
        if not isinstance(inputs, Mapping):
            if len(inputs) > len(declared):
                message = f"{len(inputs)} inputs are given, and the model has {len(declared)}: {', '.join(each.name for each in declared)}"
                raise ModelError(message)
            inputs = dict(zip([each.name for each in declared], inputs, strict=False))
        unknown = inputs.keys() - {each.name for each in (*declared, *defaults)}
        missing = [each.name for each in declared if each.name not in inputs and each.dtype is not None]
        if unknown or missing:
            parts = [f"unknown {', '.join(sorted(unknown))}"] if unknown else []
            parts += [f"missing {', '.join(missing)}"] if missing else []
            message = f"inputs: {'; '.join(parts)}; the model has {', '.join(each.name for each in declared) or 'none'}"
            raise ModelError(message)
        named: dict[str, int] = {}
        read = [*declared, *[each for each in defaults if each.name in inputs]]
        return {each.name: _checked(each, inputs.get(each.name), named) for each in read}


def _checked(declared: Declared, given: Any, named: dict[str, int]) -> Any:
    """Return an input as an array of the element type that EP holds it in. Raises ModelError for any other input."""
    where = f"input '{declared.name}'"
    if declared.dtype is None:
        return _uncounted(declared, given, where)
    if given is None:
        message = f"{where} is None, the model takes {declared.dtype}; give an array"
        raise ModelError(message)
    array = _array(given, where, declared.dtype)
    if declared.shape is None:
        return array
    fits = len(array.shape) == len(declared.shape)
    for extent, wanted in zip(array.shape, declared.shape, strict=False):
        if isinstance(wanted, str) and wanted:
            fits = fits and named.setdefault(wanted, extent) == extent
        elif wanted is not None:
            fits = fits and extent == wanted
    if not fits:
        known = ", ".join(f"{name} = {extent}" for name, extent in named.items())
        message = f"{where} has shape {array.shape}, the model takes {_shape(declared.shape)}{known and f' with {known}'}; give an array of such a shape"
        raise ModelError(message)
    return array


def _uncounted(declared: Declared, given: Any, where: str) -> Any:
    """Return an input that is a sequence, or may be absent: None, an array, or a list of arrays."""
    is_list = isinstance(given, (list, tuple))
    if declared.kind == "sequence_type" and not is_list:
        message = f"{where} is {type(given).__name__}, the model takes a sequence; give a list of arrays"
        raise ModelError(message)
    if is_list:
        return [each if each is None else _array(each, where, declared.items) for each in given]
    return given if given is None else _array(given, where, declared.items)


def _array(given: Any, where: str, dtype: str | None) -> Array:
    """Return an array in this machine's byte order, of the element type that the model takes."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        message = f"{where}: {error}; give an array"
        raise ModelError(message) from None
    array = held(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")), where)
    if dtype is not None and array.dtype.name != dtype:
        message = f"{where} is {array.dtype.name}, the model takes {dtype}; convert it"
        raise ModelError(message)
    return array


def _shape(shape: Sequence[Any]) -> str:
    return f"({', '.join('any' if each is None else str(each) for each in shape)})"


def _sequences(others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of sequences and absent inputs: lists of contents, None."""
    return {
        name: each if each is None else [one if one is None else _content(one) for one in each]
        for name, each in others.items()
    }


def _content(array: Array) -> Value:
    made = Value.of(array)
    made.is_read = True
    return made
