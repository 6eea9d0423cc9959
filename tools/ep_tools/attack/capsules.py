"""Tensors of other libraries that lie, on every device there is: DLPack capsules, array interfaces, buffers.

`attack(seconds, seed)`: whatever they say ends in EP's own sentence, or in a memory; a capsule's deleter is called once.
"""

from __future__ import annotations

import gc
import random
import runpy
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import ep_primitives as ops
import numpy as np

import ep
from ep_tools.attack.child import obey, watch
from ep_tools.attack.hostile import hostile
from ep_tools.folders import ROOT

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from ep_tools.attack.child import Call

__all__ = ["attack"]

# Where capsules are written byte by byte: a test module of the same name as this one.
_WRITTEN: Final = runpy.run_path(str(ROOT / "ep" / "tests" / "capsules.py"))
VERSIONED, OLD = _WRITTEN["VERSIONED"], _WRITTEN["OLD"]

_SPEC: Final = ep.TensorSpec("float32", (16,))
_EXTENTS: Final = (0, 1, 2, 3, 16, -1, 2**31, 2**59, 2**62, 2**63 - 1, -(2**63))
_RANKS: Final = (None, None, None, 0, -1, 1, 16, 17, 1000, 2**31 - 1, -(2**31))
_NUMBERS: Final = (0, 1, 2, 3, 4, 7, 64, 4096, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
_KINDS: Final = (1, 1, 1, 2, 3, 4, 4, 7, 12, 12, 0, -1, 99, 2**31 - 1)


def attack(seconds: float, seed: int, *, keeps_going: bool = False, most: int | None = None) -> Counter[str]:
    """Offer tensors for so long, and return counts by "operation: outcome". Raises AssertionError at the first finding."""
    return watch("ep_tools.attack.capsules", seconds, seed, keeps_going=keeps_going, most=most)


class World:
    """A device, and bytes that are really there."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = random.Random(f"{seed} {number} world")  # noqa: S311 - no secrets
        found = [device for device in ep.devices() if device.name in {"cpu:0", "sim:0", "opencl:0"}]
        self.device = self.random.choice(found)
        self.stream = self.device.stream(synchronous=self.random.choice((None, True, False)))
        self.lent: list[Any] = []
        self.memory = self.device.allocate(64)
        self.stream.fill(self.memory, b"\0")
        self.array = np.zeros(64, np.float32)
        self.add = ops.ElementwiseUnary.infer("negative", _SPEC).on(self.device)

    def address(self) -> int:
        """Return where bytes are, or where there are none."""
        native = self.device.twin.address(self.memory.handle)
        return self.random.choice((self.array.ctypes.data, self.array.ctypes.data, native, native, *_NUMBERS))


def _capsule(w: World, deletions: list[int]) -> Any:
    pick = w.random.choice
    rank = w.random.randrange(4)
    shape = pick((tuple(pick(_EXTENTS) for _ in range(rank)), (16,), (4, 4), None))
    strides = pick((None, None, tuple(pick((*_EXTENTS, -2)) for _ in shape))) if shape is not None else None
    said = pick(_RANKS)
    if shape is not None and said is not None and 0 < said <= 16:  # noqa: PLR2004 - EP's rank, up to which it reads
        said = min(said, len(shape))  # what it reads is there: C has no way to ask for the length of an array
        strides = strides if strides is None or len(strides) >= said else None
    generation = pick((VERSIONED, OLD))
    return _WRITTEN["capsule"](
        generation,
        w.address(),
        shape,
        strides,
        code=pick((2, 2, 2, 0, 1, 4, 5, 6, 10, 3, 255)),
        bits=pick((32, 32, 32, 8, 16, 64, 0, 7, 255)),
        lanes=pick((1, 1, 1, 1, 0, 4, 65535)),
        offset=pick((0, 0, 0, *_NUMBERS)),
        device=(pick(_KINDS), pick((0, 0, 0, 1, -1))),
        version=pick(((1, 0), (1, 1), (1, 99), (0, 8), (2, 0), (2**32 - 1, 0))),
        flags=pick((0, 0, 1, 2, 3, 2**64 - 1)),
        deletions=deletions,
        rank=said,
        name=pick((None, None, None, None, None, None, b"used_" + generation, b"something")),
    )


def _producer(w: World, deletions: list[int]) -> Any:
    """Return an object with DLPack; one capsule at most is made, whatever is asked how often."""
    made = _capsule(w, deletions)
    answer = w.random.choice((made, made, made, made, made, hostile(w.random)))
    kind = w.random.choice((*((kind, 0) for kind in _KINDS), hostile(w.random)))
    w.lent.append((made, _WRITTEN["name"](made), deletions))
    return _WRITTEN["Producer"](lambda: answer, device=kind, versioned=w.random.choice((True, False)))


def _interface(w: World, name: str) -> Any:
    pick = w.random.choice
    said: dict[str, Any] = {
        "shape": pick(((16,), (4, 4), (0,), (2**62,), (-1,), hostile(w.random))),
        "typestr": pick(("<f4", "<f4", ">f4", "|b1", "|O", "|V8", "<f16", "", hostile(w.random))),
        "data": pick(((w.address(), False), (w.address(), True), None, bytes(64), hostile(w.random))),
        "version": pick((3, 2, hostile(w.random))),
        "strides": pick((None, (4,), (-4,), (3,), (0,), (2**62,), hostile(w.random))),
        "stream": pick((None, 0, 1, hostile(w.random))),
        "mask": pick((None, None, None, hostile(w.random))),
    }
    for key in w.random.sample(sorted(said), w.random.choice((0, 0, 1, 2))):
        del said[key]
    return type("Told", (), {name: said})()


def _buffer(w: World) -> Any:
    pick = w.random.choice
    order, code = (
        pick(("<", ">", "=", "|")),
        pick(("f4", "f8", "i2", "c8", "O", "S3", "U2", "V5", "M8[s]", "m8[s]", "?")),
    )
    array = np.zeros(pick((16, 1, 0, 64)), order + code)
    shaped = pick((array, array[::2], array[::-1], array.reshape(1, -1).T, np.ma.masked_array(array)))
    return pick((shaped, shaped, array.data if array.dtype.kind not in "Mm" else array, hostile(w.random)))


def _draw(w: World, seed: int, number: int) -> Call:
    w.random.seed(f"{seed} {number}")
    lent, w.lent = w.lent, []
    deletions: list[int] = []
    made: tuple[str, Callable[[], Any]] = w.random.choice(
        (
            ("capsule", partial(_producer, w, deletions)),
            ("capsule", partial(_producer, w, deletions)),
            ("array interface", partial(_interface, w, "__array_interface__")),
            ("cuda interface", partial(_interface, w, "__cuda_array_interface__")),
            ("buffer", partial(_buffer, w)),
        )
    )
    thing = made[1]()
    uses: dict[str, Callable[[], Any]] = {
        "view": lambda: ep.view(thing, w.stream),
        "TensorSpec.of": lambda: ep.TensorSpec.of(thing),
        "launch": lambda: w.add(w.stream, x=thing, out=w.memory) if made[0] == "buffer" else ep.view(thing, w.stream),
        "infer": lambda: ops.ElementwiseUnary.infer("negative", thing),
        "upload": lambda: w.stream.upload(w.memory, thing),
        "download": lambda: w.stream.download(thing, w.memory),
    }
    name = w.random.choice([*uses])
    return f"{name} {made[0]}", partial(_offered, w, uses[name], lent)


def _offered(w: World, use: Callable[[], Any], lent: list[Any]) -> None:
    """Use it, and see that what was lent is given back."""
    _settle(lent)
    try:
        found = use()
        if isinstance(found, tuple):
            assert found[0].nbytes == found[1].nbytes, "a view has other bytes than its spec"
            found[0].close()
        del found
    finally:
        w.device.synchronize()


def _settle(lent: list[Any]) -> None:
    """See that what was lent before was given back: once if it was taken, else not at all."""
    for made, name, deletions in lent:
        wanted = int(_WRITTEN["name"](made) != name)
        assert len(deletions) == wanted, f"the deleter was called {len(deletions)} times, not {wanted}"


def _check() -> None:
    gc.collect()
    for device in ep.devices():
        stream, out = device.stream(), np.zeros(16, np.float32)
        try:
            memory = device.allocate(64)
            stream.upload(memory, np.full(16, 3, np.float32))
            ops.ElementwiseUnary.infer("negative", _SPEC).on(device)(stream, x=memory, out=memory)
            stream.download(out, memory)
            stream.synchronize()
        finally:
            stream.close()
        assert (out == -3).all(), f"{device.name} computes {out}"  # noqa: PLR2004 - minus 3


if __name__ == "__main__":
    obey(World, _draw, _check)
