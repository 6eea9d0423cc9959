"""Launches beside one another: no launch may change another one's result by leftovers, neighbours or their number."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_primitives.judging import layout

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.kernel import has_cell, kernel_of
from ep_conformance.judge.decoys import POISON
from ep_conformance.judge.determinism import is_promised
from ep_conformance.judge.error import CaseError
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.fixture.kernel import Kernel
    from ep_conformance.fixture.trial import Bytes, Trial

_LAUNCHES: Final = 2500
_SIZE: Final = 1027
_ROUNDS: Final = 60
_CELLS: Final = ("reduce/sum/float32/dense", "softmax/-/float32/dense", "matmul/-/float32/dense", "copy/-/uint8/dense")
_APART: Final = (2**31 + 64, 2**32 + 64)
"""Bytes between two rows: beyond what a signed, and an unsigned, number of 32 bits counts."""


def _descriptors(trial: Trial) -> Iterator[ep.Descriptor]:
    """Yield small work of several families, as far as the device does it."""
    kernel = kernel_of(trial)
    yield kernel.descriptor(257)
    for text in _CELLS:
        if has_cell(trial.device, text):
            cell = ep.Cell(*text.split("/"))
            yield ep.families()[cell.family].sample(cell)


@case(kernels=True, profile="standard")
def thousands_give_the_same_bits(trial: Trial) -> None:
    """Equal launches by the thousand write equal bits: a fault that shows once in a thousand launches is a fault."""
    trial.require(trial.device.info.determinism, "DeviceInfo.determinism says something")
    if not is_promised(trial.device):
        return
    for descriptor in _descriptors(trial):
        primitive, stream = descriptor.on(trial.device), trial.stream()
        operands: dict[str, Any] = {}
        for name, spec in descriptor.present.items():
            if isinstance(spec, ep.TensorSpec):
                values = trial.rng.uniform(0.5, 2, spec.nbytes // 4).astype(np.float32)
                operands[name] = trial.holding(stream, values.view(np.uint8)) if values.nbytes == spec.nbytes else None
                operands[name] = operands[name] or trial.holding(stream, trial.noise(spec.nbytes))
        nbytes = descriptor.out.nbytes
        outs = trial.holding(stream, np.full(_LAUNCHES * nbytes, POISON, np.uint8))
        for number in range(_LAUNCHES):
            primitive(stream, **operands | {"out": outs[number * nbytes : (number + 1) * nbytes]})
        results = trial.content(stream, outs).reshape(_LAUNCHES, nbytes)
        for number in map(int, np.flatnonzero((results != results[0]).any(1))):
            what = f"{descriptor.title}: out of launch {number} of {_LAUNCHES} equal ones"
            trial.same_bytes(what, results[number], results[0])


@case(needs="elementwise_unary/elu/float32/dense")
def attributes_are_the_descriptors_own(trial: Trial) -> None:
    """Descriptors that differ in an attribute alone may share a program, but not the attribute's value."""
    family, stream, x = ep.families()["elementwise_unary"], trial.stream(), np.linspace(-2, 1, 67, dtype=np.float32)
    given, out = trial.holding(stream, x.view(np.uint8)), trial.memory(x.nbytes)
    kind: Any = family.descriptor
    for alpha in (0.5, 3.0, 1.0, 0.5):
        descriptor = kind.infer("elu", ep.TensorSpec("float32", x.shape), alpha=alpha)
        descriptor.on(trial.device)(stream, x=given, out=out)
        result = trial.content(stream, out).view(np.float32)
        needed = family.reference(descriptor, {"x": x}).value
        wrong = np.flatnonzero(np.abs(result - needed) > 1e-3)  # noqa: PLR2004 - far less than another alpha makes
        if wrong.size:
            at = int(wrong[0])
            message = (
                f"elu with alpha {alpha:g}, after others: elu(x[{at}]={x[at]})={needed[at]:g}, out[{at}]={result[at]}"
            )
            raise CaseError(message)


@case(needs="copy/-/float32/strided")
def strides_are_the_descriptors_own(trial: Trial) -> None:
    """Descriptors of one shape with other strides and offsets, made and launched in turn, read each its own elements."""
    stream, shape, content = trial.stream(), (7, 9), trial.noise(4 * 400)
    x, out = trial.holding(stream, content), trial.memory(4 * 63)
    forms = (((9, 1), 0), ((1, 7), 0), ((20, 2), 5), ((-9, 1), 54), ((0, 1), 11), ((9, 1), 0))
    for strides, offset in forms:
        spec = ep.TensorSpec("float32", shape, strides, offset)
        kind: Any = ep.families()["copy"].descriptor
        kind.infer(spec).on(trial.device)(stream, x=x, out=out)
        needed = layout.gather(spec, content).reshape(-1).view(np.uint8)
        trial.same_bytes(
            f"copy of strides {strides}, offset {offset}, after others of its shape: out",
            trial.content(stream, out),
            needed,
        )


@case(needs="broadcast_binary/sub/float32/dense")
def inputs_may_share_a_memory(trial: Trial) -> None:
    """Two inputs may be the same memory, parts of one, and overlap: each is read where it lies."""
    stream, x = trial.stream(), trial.rng.integers(-99, 99, 130).astype(np.float32)
    memory, out = trial.holding(stream, x.view(np.uint8)), trial.memory(400)
    kind: Any = ep.families()["broadcast_binary"].descriptor
    subtract = kind.infer("sub", ep.TensorSpec("float32", (100,)), ep.TensorSpec("float32", (100,))).on(trial.device)
    for first, second in ((0, 0), (0, 30), (30, 0), (1, 2)):
        views = (memory[4 * start : 4 * start + 400] for start in (first, second))
        subtract(stream, **dict(zip(("a", "b"), views, strict=True)), out=out)
        needed = (x[first : first + 100] - x[second : second + 100]).view(np.uint8)
        trial.same_bytes(f"x[{first}:] - x[{second}:]: out", trial.content(stream, out), needed)


@case(needs="copy/-/uint8/dense")
def neighbours_in_one_memory_do_not_meet(trial: Trial) -> None:
    """Kernels on two streams that write next to each other, at odd bytes of one memory, keep each other's bytes."""
    streams, sizes = (trial.asynchronous(), trial.asynchronous()), (1023, 1026)
    kind: Any = ep.families()["copy"].descriptor
    primitives = [kind.infer(ep.TensorSpec("uint8", (size,))).on(trial.device) for size in sizes]
    memory = trial.memory(_ROUNDS * sum(sizes))
    data = [trial.noise(size) for size in sizes]
    inputs = [trial.holding(stream, values) for stream, values in zip(streams, data, strict=True)]
    held = gate(trial, streams[0])
    streams[1].wait(streams[0].record())
    for start in range(0, memory.nbytes, sum(sizes)):
        for side, begin in enumerate((start, start + sizes[0])):
            primitives[side](streams[side], x=inputs[side], out=memory[begin : begin + sizes[side]])
    held.open()
    trial.device.synchronize()
    trial.same_bytes("memory", trial.content(streams[0], memory), np.tile(np.concatenate(data), _ROUNDS))


def _computes(
    trial: Trial, what: str, kernel: Kernel, stream: ep.Stream, kind: ep.MemoryKind = ep.MemoryKind.DEVICE
) -> None:
    """Fail the case unless a launch on a stream, over memories of a kind, computes."""
    values = kernel.data(trial, _SIZE)
    x, out = (trial.closing(stream.device.allocate(values.nbytes, kind)) for _ in range(2))
    stream.upload(x, values)
    stream.fill(out, bytes([POISON]))
    kernel.descriptor(_SIZE).on(stream.device)(stream, **{kernel.operand: x, "out": out})
    kernel.check(what, _SIZE, values, trial.content(stream, out))


@case(kernels=True)
def streams_of_every_kind_compute(trial: Trial) -> None:
    """Launches compute on streams of every priority, with and without times, synchronous and not, as far as there are such."""
    kernel = kernel_of(trial)
    for priority, timed, synchronous in itertools.product((-1, 0, 1), (True, False), (None, True, False)):
        options = {"priority": priority, "timed": timed, "synchronous": synchronous}
        with contextlib.suppress(ep.UnsupportedError):
            stream = trial.stream(**options)
            _computes(trial, f"a launch on a stream of {options}", kernel, stream)


@case(kernels=True)
def memories_of_every_kind_are_operands(trial: Trial) -> None:
    """Launches compute over memory of each kind that the device gives, PINNED and SHARED as well as DEVICE."""
    kernel = kernel_of(trial)
    for kind in [kind for kind in ep.MemoryKind if kind in trial.device.info.memory_kinds]:
        _computes(trial, f"a launch over {kind.name} memory", kernel, trial.stream(), kind)


@case(kernels=True)
def devices_compute_in_turn(trial: Trial) -> None:
    """Equal work on this device and on each other one that its provider has, and then on this one again, is done where it is asked for."""
    kernel = kernel_of(trial)
    cell = f"{kernel.family.name}/{kernel.op}/float32/dense"
    others = [other for other in trial.device.provider.devices() if other is not trial.device and has_cell(other, cell)]
    for device in (trial.device, *others, trial.device):
        _computes(trial, f"a launch on {device.name}", kernel, trial.closing(device.stream()))


@case(needs="copy/-/float32/strided", profile="standard")
def rows_may_lie_4_gib_apart(trial: Trial) -> None:
    """Rows 2 and 4 GiB apart are read and written where they lie, if the device has a memory that long to give."""
    stream, count = trial.stream(), 65
    kind: Any = ep.families()["copy"].descriptor
    row = 4 * count
    for apart in _APART:
        memory = None
        with contextlib.suppress(ep.OutOfMemoryError):
            memory = trial.closing(trial.device.allocate(apart + 4096))
        if memory is None:
            return
        ends, rows = (memory[:4096], memory[apart : apart + 4096]), [trial.noise(4096) for _ in range(2)]
        dense, out = ep.TensorSpec("float32", (2, count)), trial.memory(2 * row)
        far = ep.TensorSpec("float32", (2, count), (apart // 4, 1))
        for end, content in zip(ends, rows, strict=True):
            stream.upload(end, content)
        kind(x=far, out=dense).on(trial.device)(stream, x=memory, out=out)
        needed: Bytes = np.concatenate([content[:row] for content in rows])
        trial.same_bytes(f"rows {apart} bytes apart, read: out", trial.content(stream, out), needed)
        turned = np.concatenate([content[-row:] for content in rows])
        kind(x=dense, out=far).on(trial.device)(stream, x=trial.holding(stream, turned), out=memory)
        for end, content in zip(ends, rows, strict=True):
            place = 0 if end is ends[0] else row
            needed = np.concatenate([turned[place : place + row], content[row:]])
            trial.same_bytes(f"rows {apart} bytes apart, written: the row", trial.content(stream, end), needed)
        memory.close()
