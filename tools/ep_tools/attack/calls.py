"""Random bad calls of the whole public interface, on every device there is: `attack(seconds, seed)`.

Each call ends in EP's own sentence, or succeeds, within a second, and the devices work afterwards.
"""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import ep_primitives as ops
import numpy as np
from ep_primitives.cases.call import calls as examples

import ep
from ep_tools.attack.child import obey, watch
from ep_tools.attack.hostile import hostile

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from ep_primitives.cases.call import Call as Example

    from ep_tools.attack.child import Call

__all__ = ["attack"]

_PLAUSIBLE: Final = 0.6
_ELEMENTS: Final = 16
_FLAGS: Final = (True, False)
_SPEC: Final = ep.TensorSpec("float32", (_ELEMENTS,))
_DTYPES: Final = ("float32", "float32", "float64", "int8", "int32", "int64", "uint64", "bool", "complex64", "bfloat16")
_SHAPES: Final = ((_ELEMENTS,), (4, 4), (2, 3), (), (0, 2), (1,), (2,), (2, 2, 2))
_EXAMPLES: Final = examples()
_OPS: Final = (
    "add",
    "neg",
    "sqrt",
    "sum",
    "mean",
    "argmax",
    "uniform",
    "normal",
    "constant",
    "elu",
    "bernoulli",
    "where",
    "max",
)


def attack(seconds: float, seed: int, *, keeps_going: bool = False, most: int | None = None) -> Counter[str]:
    """Call for so long, and return counts by "operation: outcome". Raises AssertionError at the first finding."""
    return watch("ep_tools.attack.calls", seconds, seed, keeps_going=keeps_going, most=most)


class World:
    """Devices, and one or more of everything that they make, open and closed."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = random.Random(f"{seed} {number} world")  # noqa: S311 - no secrets
        self.devices = _devices()
        self.device = self.random.choice(self.devices)
        device = self.device
        self.stream = device.stream(synchronous=self.random.choice((None, True, False)))
        self.other = self.random.choice(self.devices).stream()
        self.closed = device.stream()
        self.closed.close()
        self.add = ops.BroadcastBinary.infer("add", _SPEC, _SPEC).on(device)
        self.scale = ops.BroadcastBinary.infer("mul", _SPEC, ep.Scalar("float32")).on(device)
        self.memories = [device.allocate(64) for _ in range(4)]
        for memory in self.memories:
            self.stream.fill(memory, b"\0")
        self.gone = device.allocate(64)
        self.gone.close()
        a, b, c, d = self.memories
        self.step = self.add.bind(a=a, b=b, out=c)
        with self.stream.capture() as self.graph:
            self.add(self.stream, a=a, b=b, out=c)
        self.graph.slot("x", a)
        self.event = self.stream.record(timed=True)
        self.generator = ops.Generator(device, 1)
        self.exported = self.stream.export(d, _SPEC)
        self.array = np.zeros(_ELEMENTS, np.float32)
        self.tensor = ep.Tensor(d, _SPEC)

    def thing(self) -> Any:
        """Return something of EP, where it may not be expected."""
        return self.random.choice(
            (
                self.device,
                self.other.device,
                self.stream,
                self.other,
                self.closed,
                self.add,
                *self.memories,
                self.gone,
                self.step,
                self.graph,
                self.event,
                self.exported,
                self.tensor,
                _SPEC,
                ep.Scalar("float32"),
                self.add.descriptor,
                self.generator,
                self.array,
                self.memories[0][8:40],
                ep.TensorSpec,
                ep.Memory,
                ep.MemoryKind.PINNED,
            )
        )

    def draw(self, *plausible: Any) -> Any:
        """Return an argument: mostly one that may be right, else a hostile value or something of EP."""
        dice = self.random.random()
        if dice < _PLAUSIBLE and plausible:
            return self.random.choice(plausible)
        return hostile(self.random) if dice < 0.9 else self.thing()  # noqa: PLR2004 - shares

    def spec(self) -> Any:
        """Return what may be given where a TensorSpec or an array is needed."""
        good = ep.TensorSpec(self.random.choice(_DTYPES), self.random.choice(_SHAPES))
        return self.draw(_SPEC, good, good, self.array, self.tensor)

    def tensor_or_memory(self) -> Any:
        """Return what may be given where a launch needs a tensor."""
        return self.draw(*self.memories, self.tensor, self.tensor.reshape(4, 4), ep.Tensor(self.memories[1], _SPEC))

    def memory(self) -> Any:
        """Return what may be given where a memory is needed."""
        return self.draw(*self.memories, self.memories[0][:32])

    def some_stream(self) -> Any:
        """Return what may be given where a stream is needed."""
        return self.draw(self.stream, self.stream, self.stream, self.other)


def _devices() -> list[ep.Device]:
    return [device for device in ep.devices() if device.name in {"cpu:0", "sim:0", "sim:1", "opencl:0"}]


def _core(w: World) -> dict[str, Callable[[], Any]]:
    draw = w.draw
    return {
        "TensorSpec": lambda: repr(
            ep.TensorSpec(draw(*_DTYPES), draw(*_SHAPES), draw(None, (1,), (2, 1), (4, -1), (0, 0)), draw(0, 1, 8))
        ),
        "TensorSpec.of": lambda: ep.TensorSpec.of(draw(w.array)),
        "TensorSpec.==": lambda: _SPEC.__eq__(draw()),
        "Scalar": lambda: ep.Scalar(draw(*_DTYPES)),
        "ep.dtype": lambda: ep.dtype(draw(*_DTYPES)),
        "ep.device": lambda: ep.device(draw("cpu", "cpu:0")),
        "ep.provider": lambda: ep.provider(draw("cpu")),
        "ep.view": lambda: ep.view(draw(w.array, w.exported, w.tensor), w.some_stream()),
        "memory[]": lambda: w.memories[0][slice(draw(None, 0, 4), draw(None, 8, 64), draw(None, None, 1))],
        "memory[x]": lambda: w.memories[0][draw(slice(0, 4))],
        "memory.host": w.memories[0].host,
        "Tensor": lambda: ep.Tensor(w.memory(), draw(_SPEC)),
        "tensor[]": lambda: w.tensor[
            draw(0, slice(1, 9, 2), ..., (-1,), slice(draw(None, 3), draw(None, 2), draw(1, -1)))
        ],
        "tensor.reshape": lambda: w.tensor[:: draw(1, -1, 2)].reshape(draw(-1, 2, 4), draw(4, 8, -1)),
        "tensor.permute": lambda: w.tensor.reshape(2, 2, 4).permute(draw(0, 2), draw(1, -1), draw(2, 0)),
        "tensor.numpy": lambda: w.tensor.numpy(draw(None, w.stream)),
        "tensor.__dlpack__": lambda: w.tensor.__dlpack__(
            stream=draw(None, -1), max_version=draw(None, (1, 0)), dl_device=draw(None), copy=draw(None, *_FLAGS)
        ),
        "event.synchronize": lambda: w.event.synchronize(draw(None, 1, 0.5)),
        "event.seconds_since": lambda: w.event.seconds_since(draw(w.event)),
        "__dlpack__": lambda: w.exported.__dlpack__(
            stream=draw(None, -1), max_version=draw(None, (1, 0)), dl_device=draw(None), copy=draw(None, *_FLAGS)
        ),
    }


def _of_device(w: World) -> dict[str, Callable[[], Any]]:
    device, draw, array = w.device, w.draw, w.array

    def budget() -> None:
        try:
            device.budget = draw(None, 1 << 40)
        finally:
            device.budget = None

    def wrap_host() -> None:
        device.wrap_host(draw(array.ctypes.data), draw(64, 8, 0), draw(array), is_read_only=draw(*_FLAGS)).close()

    def wrap_memory() -> None:
        device.wrap_memory(
            draw(w.memories[0].handle, array.ctypes.data),
            draw(64, 0),
            owner=draw(w.memories[0]),
            is_read_only=draw(*_FLAGS),
        ).close()

    return {
        "allocate": lambda: device.allocate(draw(0, 1, 64, 1000), draw(*ep.MemoryKind)).close(),
        "stream": lambda: device.stream(draw(0, 1), timed=draw(*_FLAGS), synchronous=draw(None, *_FLAGS)).close(),
        "device.tensor": lambda: device.tensor(draw(array, array[::2], b"bytes"), draw(None, w.stream)).close(),
        "device.empty": lambda: device.empty(draw(_SPEC, *_DTYPES), draw(None, *_SHAPES), draw(*ep.MemoryKind)).close(),
        "device.synchronize": lambda: device.synchronize(draw(None, 1.0)),
        "budget": budget,
        "wrap_host": wrap_host,
        "wrap_memory": wrap_memory,
        "wrap_stream": lambda: device.wrap_stream(draw(w.stream.twin.dlpack_stream()), owner=draw(w.stream)).close(),
        "can_copy_from": lambda: device.can_copy_from(draw(*w.devices)),
        "can_copy_to": lambda: device.can_copy_to(draw(*w.devices)),
        "can_access": lambda: device.can_access(draw(*w.devices)),
    }


def _of_stream(w: World) -> dict[str, Callable[[], Any]]:
    stream, draw, array = w.stream, w.draw, w.array
    return {
        "upload": lambda: stream.upload(w.memory(), draw(array, bytes(64))),
        "download": lambda: stream.download(draw(array, bytearray(64)), w.memory()),
        "copy": lambda: stream.copy(w.memory(), w.memory()),
        "fill": lambda: stream.fill(w.memory(), draw(b"\0", bytes(4))),
        "record": lambda: stream.record(timed=draw(*_FLAGS)),
        "wait": lambda: stream.wait(draw(w.event)),
        "call": lambda: stream.call(cast("Any", w.random.choice((lambda: None, None, 3, "x")))),
        "stream.allocate": lambda: stream.allocate(draw(0, 64), draw(*ep.MemoryKind)).close(),
        "free": lambda: stream.free(draw(w.gone)),
        "export": lambda: stream.export(w.memory(), draw(_SPEC)),
        "synchronize": lambda: stream.synchronize(draw(None, 1)),
        "primitive": lambda: w.add(
            w.some_stream(), a=w.memory(), b=w.memory(), out=w.memory(), **w.random.choice(({}, {}, {"c": 1}))
        ),
        "primitive (tensors)": lambda: w.add(
            w.some_stream(), a=w.tensor_or_memory(), b=w.tensor_or_memory(), out=w.tensor_or_memory()
        ),
        "primitive (number)": lambda: w.scale(w.some_stream(), a=w.memory(), b=draw(2, 1.5), out=w.memory()),
        "bind": lambda: w.add.bind(a=w.memory(), b=w.memory(), out=w.memory()).close(),
        "step": lambda: w.step(w.some_stream()),
        "graph.slot": lambda: w.graph.slot(draw("y", "z"), w.memory()),
        "graph.launch": lambda: w.graph.launch(
            w.some_stream(), **w.random.choice(({}, {"x": w.memory()}, {"y": w.memory()}))
        ),
        "Generator": lambda: ops.Generator(draw(w.device), draw(0, 5)).close(),
        "Generator.skip": lambda: w.generator.skip(w.some_stream(), draw(0, 5)),
        "Generator.restore": lambda: w.generator.restore(w.some_stream(), draw(bytes(16))),
    }


def _families(w: World) -> dict[str, Callable[[], Any]]:
    """Return the calls that families give as examples, with some of their arguments changed, left out or made up."""
    made: dict[str, Callable[[], object]] = {
        call.name: partial(_spoilt, w, call) for calls in _EXAMPLES.values() for call in calls
    }
    made["AddN (any number)"] = lambda: ops.AddN(
        *[w.spec() for _ in range(w.random.choice((0, 1, 2, 3, 70)))], out=w.spec()
    )
    return {name: partial(_used, w, call) for name, call in made.items()}


def _spoilt(w: World, call: Example) -> Any:
    given = dict(call.arguments)
    for name in w.random.sample([*given], w.random.randint(0, min(3, len(given)))):
        given[name] = _other(w, given[name])
    if w.random.random() < 0.1:  # noqa: PLR2004 - a share
        given.pop(w.random.choice([*given]))
    return call.make(**given, **w.random.choice(({}, {}, {}, {"outs": w.spec()}, {"alpha": w.draw(1.0)})))


def _other(w: World, given: Any) -> Any:
    """Return an argument of the kind of one that is right, or anything."""
    if isinstance(given, (ep.TensorSpec, ep.Scalar)):
        return w.draw(ep.Scalar("float32"), _SPEC) if w.random.random() < 0.2 else w.spec()  # noqa: PLR2004 - a share
    plausible: dict[type, tuple[Any, ...]] = {
        bool: _FLAGS,
        int: (0, 1, 2, -1, (0,)),
        float: (0.0, 1.0, -1.0, 1e30),
        str: (*_OPS, *_DTYPES, "mean", "relu"),
        tuple: ((0,), (1,), (2,), (0, 1), (1, 0), (-1,), (1, 2), 1, None, *_SHAPES),
    }
    return w.draw(*plausible.get(type(given), (None, 0)))


def _used(w: World, call: Callable[[], Any]) -> None:
    """Make a descriptor and look at all that it says; now and then find its primitive."""
    made = call()
    assert made == made  # noqa: PLR0124 - comparing is what is tried
    _ = repr(made), hash(made), made.geometry, made.key, made.layout, made.cell, made.nbytes_moved, made.flops
    if w.random.random() < 0.1 and made.out.nbytes < 1 << 20:  # noqa: PLR2004 - a share, and what runs soon
        made.on(w.draw(w.device))


def _draw(w: World, seed: int, number: int) -> Call:
    w.random.seed(f"{seed} {number}")
    calls = {**_core(w), **_of_device(w), **_of_stream(w), **_families(w)}
    name = w.random.choice([*calls])
    return name, calls[name]


def _check() -> None:
    for device in _devices():
        stream, spec = device.stream(), ep.TensorSpec("float32", (_ELEMENTS,))
        try:
            stream.synchronize()
            memories = [device.allocate(64) for _ in range(3)]
            for value, memory in enumerate(memories):
                stream.upload(memory, np.full(_ELEMENTS, value, np.float32))
            ops.BroadcastBinary.infer("add", spec, spec).on(device)(
                stream, a=memories[1], b=memories[1], out=memories[2]
            )
            out = np.zeros(_ELEMENTS, np.float32)
            stream.download(out, memories[2])
            stream.synchronize()
        finally:
            stream.close()
        assert (out == 2).all(), f"{device.name} computes {out}"  # noqa: PLR2004 - 1 + 1


if __name__ == "__main__":
    obey(World, _draw, _check)
