"""Devices: identity, DeviceInfo, and closing."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import ep
from ep_conformance.fixture.gate import gate, late
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.order import Order
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_conformance.fixture.trial import Trial


@case()
def equal_names_are_one_object(trial: Trial) -> None:
    """A device's name gives the very same object again."""
    trial.require(ep.device(trial.device.name) is trial.device, "ep.device(device.name) is device")


@case()
def unknown_index_is_unavailable(trial: Trial) -> None:
    """An index after the last device is UnavailableError, naming the devices that exist."""
    provider = trial.device.provider.name
    trial.refuses("ep.device(index 9999)", ep.UnavailableError, lambda: ep.device(f"{provider}:9999"), provider)


@case()
def info_is_complete(trial: Trial) -> None:
    """DeviceInfo names the device, its alignment is a power of two, its dtypes are EP's and flushed ones among them."""
    info = trial.device.info
    trial.require(info.name and info.vendor, f"info.name {info.name!r} and info.vendor {info.vendor!r} are not empty")
    is_power = info.alignment > 0 and info.alignment & (info.alignment - 1) == 0
    trial.require(is_power, f"info.alignment {info.alignment} is a power of two")
    for dtype in info.dtypes | info.flushes:
        trial.equal("ep.dtype(name).name", ep.dtype(dtype).name, dtype)
    trial.require(info.compute_units >= 1, f"info.compute_units {info.compute_units} is at least 1")
    trial.require(info.subgroup_size >= 1, f"info.subgroup_size {info.subgroup_size} is at least 1")
    trial.require(hash(info) == hash(trial.device.info), "info is frozen and hashable")


@case()
def copies_from_and_accesses_itself(trial: Trial) -> None:
    """A device can copy from and access itself."""
    trial.require(trial.device.can_copy_from(trial.device), "device.can_copy_from(device)")
    trial.require(trial.device.can_access(trial.device), "device.can_access(device)")


@case(kernels=True, asks="devices", since="1.1")
def streams_of_other_devices_are_refused(trial: Trial) -> None:
    """A launch, step or graph on a stream of another device, or a verb over its memory, is ValueError that names both; nothing runs."""
    kernel = kernel_of(trial)
    primitive, ours, size = kernel.descriptor(16).on(trial.device), trial.stream(), 64
    content = trial.noise(size)
    x, out = trial.holding(ours, kernel.data(trial, 16).view(np.uint8)), trial.holding(ours, content)
    step = trial.closing(primitive.bind(**{kernel.operand: x, "out": out}))
    with ours.capture() as graph:
        ours.copy(out, x)
    trial.closing(graph)
    for other in (other for other in trial.device.provider.devices() if other is not trial.device):
        theirs, far = trial.closing(other.stream()), trial.closing(other.allocate(size))
        wrong: dict[str, Callable[[], object]] = {
            "launch on its stream": partial(primitive, theirs, **{kernel.operand: x, "out": out}),
            "launch over its memory": partial(primitive, ours, **{kernel.operand: far, "out": out}),
            "step on its stream": partial(step, theirs),
            "bind of its memory": partial(primitive.bind, **{kernel.operand: far, "out": out}),
            "graph on its stream": partial(graph.launch, theirs),
            "fill by its stream": partial(theirs.fill, out, b"\0"),
            "upload by its stream": partial(theirs.upload, out, bytes(size)),
            "download by its stream": partial(theirs.download, bytearray(size), out),
            "copy by its stream": partial(theirs.copy, out, x),
            "free by its stream": partial(theirs.free, out),
        }
        for what, call in wrong.items():
            trial.refuses(f"{other.name}: a {what}", ValueError, call, trial.device.name, other.name)
        theirs.synchronize()
        trial.same_bytes("out", trial.content(ours, out), content)


@case()
def synchronize_waits_for_every_stream(trial: Trial) -> None:
    """After device.synchronize() the work of each of its streams is done."""
    old, new = trial.noise(256), trial.noise(256)
    streams = [trial.asynchronous() for _ in range(3)]
    found = [late(trial, stream, old, new) for stream in streams]
    for _, held in found:
        held.open_later()
    trial.device.synchronize()
    reader = trial.stream()
    for stream, (target, _) in zip(streams, found, strict=True):
        order = Order(("copy", stream), ("device.synchronize()", None), otherwise=old)
        trial.same_bytes(f"memory of {stream.name}", trial.content(reader, target), new, order)


@case()
def synchronize_has_one_timeout_for_all_streams(trial: Trial) -> None:
    """device.synchronize(timeout) ends in time however many streams are held back, and leaves them usable."""
    streams = [trial.asynchronous() for _ in range(4)]
    gates = [gate(trial, stream) for stream in streams]
    if all(held.holds for held in gates):
        begin = time.monotonic()
        trial.refuses("device.synchronize(0.3)", ep.TimeoutError, lambda: trial.device.synchronize(0.3))
        waited = time.monotonic() - begin
        trial.require(0.29 <= waited <= 1.1, f"device.synchronize(0.3) took {waited} s")  # noqa: PLR2004
    for held in gates:
        held.open()
    trial.device.synchronize(20)
    trial.require(all(stream.is_idle for stream in streams), "all streams are idle after device.synchronize()")


@case()
def close_is_refused_while_children_live(trial: Trial) -> None:
    """device.close() raises while a stream or memory is open, naming it, and the device works on."""
    stream, memory = trial.stream(), trial.memory(48)
    trial.refuses("device.close()", ep.EpError, trial.device.close, stream.name, "48 bytes")
    sent = trial.noise(48)
    stream.upload(memory, sent)
    trial.same_bytes("memory", trial.content(stream, memory), sent)
