"""What runs in a process of its own while a device fails on request; it says what was heard, and judges nothing.

Each function is given the device and an asynchronous stream, and returns what JSON has.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep.capabilities import serves_calls

import ep
from ep_conformance.work import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["copy", "end", "graph", "loss", "opened_again", "there", "trap", "unheard"]

_SECONDS: Final = 10.0
_SIZE: Final = 64


def _heard(call: Callable[[], object]) -> dict[str, Any] | None:
    """Return what the DeviceError that a call raises is and names, None if it raises none; of a timeout that it is one."""
    try:
        call()
    except ep.DeviceError as error:
        return {**_name(error.op, error.stream, error.sequence, error.node), "is_lost": _is_loss(error)}
    except ep.TimeoutError:
        return {"is_timeout": True}
    return None


def _name(op: str | None, stream: str | None, sequence: int | None, node: int | None = None) -> dict[str, Any]:
    return {"op": op, "stream": stream, "sequence": sequence, "node": node}


def _failed(op: str, stream: ep.Stream, node: int | None = None) -> dict[str, Any]:
    """Return what an error of the last enqueue is to name."""
    return {**_name(op, stream.name, stream._sequence, node), "is_lost": False}  # noqa: SLF001 - how many there were


def _is_loss(error: BaseException) -> bool:
    return isinstance(error, ep.DeviceLostError)


def _inject(device: ep.Device, kind: str, nth: int = 1) -> None:
    device.twin.inject(ep.spi.Fault(ep.spi.FaultKind(kind), nth))


@contextlib.contextmanager
def _held(stream: ep.Stream) -> Iterator[None]:
    """Hold a stream back, where functions of the host can."""
    opened = threading.Event()
    if serves_calls(stream):
        stream.call(lambda: opened.wait(_SECONDS))
    try:
        yield
    finally:
        opened.set()


def _content(stream: ep.Stream, memory: ep.Memory) -> str:
    host = bytearray(memory.nbytes)
    stream.download(host, memory)
    try:
        stream.synchronize(_SECONDS)
    except ep.DeviceError as error:
        return f"unknown, because of {error}"
    return ascii(bytes(host[:1]) if len(set(host)) == 1 else bytes(host))


def _filled(stream: ep.Stream, byte: bytes) -> ep.Memory:
    memory = stream.device.allocate(_SIZE)
    stream.fill(memory, byte)
    stream.synchronize(_SECONDS)
    return memory


def _only_errors(heard: list[dict[str, Any] | None]) -> list[dict[str, Any]]:
    return [each for each in heard if each is not None]


def trap(device: ep.Device, stream: ep.Stream, family: str, op: str, operand: str) -> dict[str, Any]:
    """Let the second of three launches trap."""
    kernel = Kernel(ep.families()[family], op, operand)
    primitive = kernel.descriptor(_SIZE).on(device)
    content = np.linspace(1, 2, _SIZE, dtype=np.float32)
    x, out, behind = device.allocate(4 * _SIZE), device.allocate(4 * _SIZE), _filled(stream, b"a")
    stream.upload(x, content)
    stream.synchronize(_SECONDS)
    _inject(device, "kernel", 2)
    early: list[dict[str, Any] | None] = []
    failed: dict[str, Any] = {}
    with _held(stream):
        for place in range(3):
            early.append(_heard(lambda: primitive(stream, **{operand: x, "out": out})))
            failed = _failed(str(primitive), stream) if place == 1 else failed
        early.append(_heard(lambda: stream.fill(behind, b"b")))
        early.append(_heard(stream.record))
    shown = {
        "failed": failed,
        "by_stream": _heard(lambda: stream.synchronize(_SECONDS)),
        "again": _heard(lambda: stream.synchronize(_SECONDS)),
        "early": _only_errors(early),
        "behind": _content(stream, behind),
    }
    primitive(stream, **{operand: x, "out": out})
    result = np.empty_like(content)
    stream.download(result, out)
    stream.synchronize(_SECONDS)
    kernel.check("a launch after the error was heard", _SIZE, content, result.view(np.uint8))
    return shown


def copy(device: ep.Device, stream: ep.Stream) -> dict[str, Any]:
    """Let the second of three uploads fail, and another stream wait for what is behind it."""
    other = device.stream(synchronous=False)
    memory, beside = _filled(stream, b"a"), _filled(other, b"a")
    _inject(device, "copy", 2)
    with _held(stream):
        before = stream.record()
        early = [_heard(lambda: stream.upload(memory, b"b" * _SIZE))]
        early.append(_heard(lambda: stream.upload(memory, b"c" * _SIZE)))
        failed = _failed("upload", stream)
        early.append(_heard(lambda: stream.fill(memory, b"d")))
        event = stream.record()
        early.append(_heard(lambda: other.wait(event)))
        early.append(_heard(lambda: other.fill(beside, b"e")))
        if not before.is_done:  # a host that waits here would be held back itself
            early.append(_heard(lambda: device.stream().close()))
    shown = {
        "failed": failed,
        "by_other": _heard(lambda: other.synchronize(_SECONDS)),
        "by_event": _heard(lambda: event.synchronize(_SECONDS)),
    }
    early.append(_heard(lambda: stream.fill(memory, b"f")))
    return {
        **shown,
        "by_stream": _heard(lambda: stream.synchronize(_SECONDS)),
        "again": _heard(lambda: stream.synchronize(_SECONDS)),
        "early": _only_errors(early),
        "behind": _content(stream, memory),
        "beside": _content(other, beside),
    }


def graph(device: ep.Device, stream: ep.Stream) -> dict[str, Any]:
    """Let a node of a graph's second launch fail."""
    one, other, behind = _filled(stream, b"a"), _filled(stream, b"b"), _filled(stream, b"c")
    with stream.capture() as captured:
        stream.fill(one, b"d")
        stream.copy(other, one)
        stream.fill(one, b"e")
        stream.copy(other, one)
        stream.fill(behind, b"f")
    captured.launch(stream)
    stream.fill(behind, b"c")
    stream.synchronize(_SECONDS)
    _inject(device, "copy", 2)
    early = [_heard(lambda: captured.launch(stream))]
    failed = _failed("copy", stream, node=3)
    early.append(_heard(lambda: stream.fill(behind, b"g")))
    shown = {"by_event": _heard(lambda: stream.record().synchronize(_SECONDS))}
    return {
        **shown,
        "failed": failed,
        "by_stream": _heard(lambda: stream.synchronize(_SECONDS)),
        "again": _heard(lambda: stream.synchronize(_SECONDS)),
        "early": _only_errors(early),
        "behind": _content(stream, behind),
    }


def unheard(device: ep.Device, stream: ep.Stream) -> dict[str, Any]:
    """Let an upload fail of which nobody hears before the process ends."""
    memory = _filled(stream, b"a")
    _inject(device, "copy")
    stream.upload(memory, b"b" * _SIZE)
    return {"failed": _failed("upload", stream)}


def loss(device: ep.Device, stream: ep.Stream) -> dict[str, Any]:
    """Lose the device with work under way, and use all that was made from it twice."""
    memory, other = _filled(stream, b"a"), _filled(stream, b"a")
    idle = device.stream(synchronous=False)
    with stream.capture() as captured:
        stream.fill(memory, b"b")
    captured.launch(stream)
    done = idle.record()
    idle.synchronize(_SECONDS)
    for _ in range(30):
        stream.fill(memory, b"c")
        stream.copy(other, memory)
    pending = stream.record()
    _inject(device, "loss")
    waits: dict[str, Callable[[], object]] = {
        "stream.synchronize": lambda: stream.synchronize(_SECONDS),
        "event.synchronize": lambda: pending.synchronize(_SECONDS),
        "an idle stream's synchronize": lambda: idle.synchronize(_SECONDS),
        "device.synchronize": lambda: device.synchronize(_SECONDS),
    }
    verbs: dict[str, Callable[[], object]] = {
        "upload": lambda: stream.upload(memory, bytes(_SIZE)),
        "download": lambda: stream.download(bytearray(_SIZE), memory),
        "copy": lambda: stream.copy(other, memory),
        "fill": lambda: stream.fill(memory, b"d"),
        "record": stream.record,
        "wait": lambda: stream.wait(done),
        "call": lambda: stream.call(list),
        "graph.launch": lambda: captured.launch(stream),
        "an idle stream's fill": lambda: idle.fill(memory, b"d"),
        "device.stream": device.stream,
        "allocate": lambda: device.allocate(12_345_678),
    }
    forgotten = []
    for name, use in [*waits.items(), *verbs.items()] * 2:
        heard = _heard(use) or {}
        if not heard.get("is_lost"):
            forgotten.append(name)
        if "is_timeout" in heard:  # nothing else would end
            return {"forgotten": [f"{name}, which does not end"]}
    return {
        "forgotten": forgotten,
        "is_done": [pending.is_done, done.is_done],
        "is_idle": [stream.is_idle, idle.is_idle],
        "elsewhere": [_elsewhere(each) for each in device.provider.devices() if each is not device],
        "closing": _closed([captured, memory, other], [stream, idle], device),
    }


def _closed(things: list[Any], streams: list[ep.Stream], device: ep.Device) -> list[str]:
    """Close what was made from a lost device, and return what other than its loss was raised; a stream's close is a wait."""
    said = []
    for close in (*(thing.close for thing in things), *(stream.close for stream in streams), device.close):
        try:
            close()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is said
            if close == device.close or not _is_loss(error):
                said.append(f"{type(error).__name__}: {error}")
    return said


def _elsewhere(device: ep.Device) -> str:
    return str(there(device, device.stream())["content"])


def there(device: ep.Device, stream: ep.Stream) -> dict[str, Any]:
    """Show that the device works."""
    del device
    return {"content": _content(stream, _filled(stream, b"a"))}


def end(device: ep.Device, stream: ep.Stream) -> dict[str, Any]:
    """Lose the device, and leave all that was made from it to the end of the process."""
    memory, other = _filled(stream, b"a"), _filled(stream, b"b")
    stream.synchronize(_SECONDS)
    _inject(device, "loss")
    _KEPT.extend([memory, other, stream, *(each.allocate(_SIZE) for each in device.provider.devices()[1:])])
    return {}


_KEPT: Final[list[Any]] = []


def opened_again(device: ep.Device, stream: ep.Stream) -> dict[str, Any]:
    """Lose the device, close it and open it again."""
    _inject(device, "loss")
    _heard(stream.close)
    device.close()
    again = ep.device(device.name)
    return there(again, again.stream())
