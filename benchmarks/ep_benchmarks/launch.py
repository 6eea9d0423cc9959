"""The cost of a launch: checked calls, bound steps, lookups and creation, on one element, against budgets and peers."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ep_primitives import BroadcastBinary, ElementwiseUnary, Where

import ep
from ep_benchmarks.timing import Timing, interleave

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Row", "launch_rows", "shapes_row"]


class Row(NamedTuple):
    """One measured line: microseconds, the budget that performance.md gives it (None: none), ratios to peers."""

    name: str
    microseconds: float
    spread: float
    budget: float | None
    peers: dict[str, tuple[float, float]]

    @property
    def within(self) -> bool | None:
        """True if the budget is met, None where there is none."""
        return None if self.budget is None else self.microseconds <= self.budget


SPEC = ep.TensorSpec("float32", (1,))
WHERE = Where(condition=ep.TensorSpec("bool", (1,)), a=SPEC, b=SPEC, out=SPEC)


def launch_rows(device: ep.Device, against: tuple[str, ...]) -> Iterator[Row]:
    """Yield the launch figures of a device.

    Only the enqueue is timed; an asynchronous stream finishes its work between the rounds.
    """
    stream = device.stream()
    x, y, out = (device.allocate(4) for _ in range(3))
    for memory in (x, y, out):
        stream.fill(memory, b"\0\0\0\0")
    unary = ElementwiseUnary("negative", x=SPEC, out=SPEC)
    binary = BroadcastBinary("add", a=SPEC, b=SPEC, out=SPEC)
    negative, add = unary.on(device), binary.on(device)
    step, step_add = negative.bind(x=x, out=out), add.bind(a=x, b=y, out=out)
    is_cpu = stream.is_synchronous

    def checked_unary(count: int) -> None:
        for _ in range(count):
            negative(stream, x=x, out=out)

    def checked_binary(count: int) -> None:
        for _ in range(count):
            add(stream, a=x, b=y, out=out)

    def bound_unary(count: int) -> None:
        for _ in range(count):
            step(stream)

    def bound_binary(count: int) -> None:
        for _ in range(count):
            step_add(stream)

    peers, settle = _peers(against, device), _settled(against, stream)
    yield _row("checked unary", checked_unary, 0.8 if is_cpu else 6.0, peers["unary"], settle)
    yield _row("checked binary", checked_binary, 0.9 if is_cpu else 6.0, peers["binary"], settle)
    yield from _where_rows(stream, (x, y, out), peers["where"], settle)
    yield _row("bound unary", bound_unary, 0.25 if is_cpu else 6.0, peers["unary"], settle)
    yield _row("bound binary", bound_binary, 0.25 if is_cpu else 6.0, peers["binary"], settle)
    yield from _creation_rows(device, unary, is_cpu=is_cpu)


def shapes_row(device: ep.Device, count: int = 10_000) -> tuple[Row, int, int]:
    """Return the figure for `count` new shapes of one op, the compiles they took and the primitives that are kept."""
    cache = device._primitives  # noqa: SLF001 - how many are kept is the claim to show
    before = device.compiles
    sizes = itertools.count(1 << 20)

    def create(times: int) -> None:
        for _ in range(times):
            spec = ep.TensorSpec("float32", (next(sizes),))
            ElementwiseUnary("exp", x=spec, out=spec).on(device)

    create(1)
    seconds = []
    for _ in range(10):
        begin = time.perf_counter()
        create(count // 10)
        seconds.append((time.perf_counter() - begin) / (count // 10))
    timing = Timing(tuple(seconds))
    row = Row(f"new shape of a known key, {count} shapes", timing.median * 1e6, timing.spread, None, {})
    return row, device.compiles - before, len(cache)


def _settled(against: tuple[str, ...], stream: ep.Stream) -> Callable[[], None]:
    """Return what waits for EP's work and for PyTorch's, where that is on a device, too."""
    if "torch" not in against:
        return stream.synchronize
    import torch  # noqa: PLC0415 - a peer, never a dependency

    if not torch.cuda.is_available():
        return stream.synchronize

    def settle() -> None:
        stream.synchronize()
        torch.cuda.synchronize()

    return settle


def _where_rows(
    stream: ep.Stream,
    memories: tuple[ep.Memory, ...],
    peers: dict[str, Callable[[int], None]],
    settle: Callable[[], None],
) -> Iterator[Row]:
    """Yield the figure of a choice, nothing on a device that has none."""
    x, y, out = memories
    truth = stream.device.allocate(1)
    stream.fill(truth, b"\0")
    try:
        select = WHERE.on(stream.device)
    except ep.UnsupportedError:
        return

    def checked_where(count: int) -> None:
        for _ in range(count):
            select(stream, condition=truth, a=x, b=y, out=out)

    yield _row("checked where", checked_where, 1.0 if stream.is_synchronous else 6.0, peers, settle)


def _creation_rows(device: ep.Device, known: ep.Descriptor, *, is_cpu: bool) -> Iterator[Row]:
    sizes = itertools.count(100)

    def lookup(count: int) -> None:
        for _ in range(count):
            known.on(device)

    def build(count: int) -> None:
        for _ in range(count):
            spec = ep.TensorSpec("float32", (7, 9))
            ElementwiseUnary("negative", x=spec, out=spec)

    def again(count: int) -> None:
        for _ in range(count):
            a = ep.TensorSpec("float32", (7, 9), (9, 1))
            b = ep.TensorSpec("float32", (9,), (1,))
            BroadcastBinary.infer("add", a, b).on(device)

    def new_shape(count: int) -> None:
        for _ in range(count):
            spec = ep.TensorSpec("float32", (next(sizes),))
            ElementwiseUnary("negative", x=spec, out=spec).on(device)

    yield _row("lookup of a descriptor", lookup, 1.0, {})
    yield _row("building a spec and a descriptor", build, 5.0, {})
    yield _row("describing a known addition again", again, 3.0, {})
    yield _row("new shape of a known key", new_shape, 20.0 if is_cpu else 30.0, {})


def _row(
    name: str,
    work: Callable[[int], None],
    budget: float | None,
    peers: dict[str, Any],
    settle: Callable[[], None] | None = None,
) -> Row:
    timings = interleave({"ep": work, **peers}, settle=settle)
    ours = timings["ep"]
    ratios = {peer: ours.ratio(timings[peer]) for peer in peers}
    return Row(name, ours.median * 1e6, ours.spread, budget, ratios)


def _peers(names: tuple[str, ...], device: ep.Device) -> dict[str, dict[str, Callable[[int], None]]]:
    """Return the peers' fastest forms on one element: `out=`, no allocation in the loop, called as EP is called, on the device if they have it."""
    found: dict[str, dict[str, Callable[[int], None]]] = {"unary": {}, "binary": {}, "where": {}}
    if "numpy" in names:
        found["unary"]["numpy"], found["binary"]["numpy"] = _numpy_calls()
    if "torch" in names:
        found["unary"]["torch"], found["binary"]["torch"], found["where"]["torch"] = _torch_calls(device)
    return found


def _numpy_calls() -> tuple[Callable[[int], None], Callable[[int], None]]:
    import numpy as np  # noqa: PLC0415 - a peer, timed only when asked for

    x, y, out = (np.zeros(1, np.float32) for _ in range(3))
    negative, add = np.negative, np.add

    def unary(count: int) -> None:
        for _ in range(count):
            negative(x, out)

    def binary(count: int) -> None:
        for _ in range(count):
            add(x, y, out)

    return unary, binary


def _torch_calls(
    device: ep.Device,
) -> tuple[Callable[[int], None], Callable[[int], None], Callable[[int], None]]:
    import torch  # noqa: PLC0415 - a peer, never a dependency

    from ep_benchmarks.peers.pytorch.peer import place_beside  # noqa: PLC0415 - imports the peer

    place = place_beside(device)
    x, y, out = (torch.zeros(1, device=place) for _ in range(3))
    truth = torch.zeros(1, dtype=torch.bool, device=place)
    neg, add, where = torch.neg, torch.add, torch.where

    def unary(count: int) -> None:
        for _ in range(count):
            neg(x, out=out)

    def binary(count: int) -> None:
        for _ in range(count):
            add(x, y, out=out)

    def select(count: int) -> None:
        for _ in range(count):
            where(truth, x, y, out=out)

    return unary, binary, select
