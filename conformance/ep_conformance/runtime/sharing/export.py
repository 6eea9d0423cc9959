"""Exports: tensors of EP, shown to others. Whose stream waits for what is a table in docs/interchange.md."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.fixture.gate import late
from ep_conformance.fixture.lender import SecondHand, as_laid_out
from ep_conformance.fixture.order import Order
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_CPU: Final = 1
_OPENCL: Final = 4


def _shows(trial: Trial) -> bool:
    """Say whether the device exports its memory; if not, its error must name an alternative."""
    stream, memory = trial.stream(), trial.memory(64)
    try:
        stream.export(memory, ep.TensorSpec("uint8", (64,)))
    except ep.UnsupportedError as error:
        trial.require("stream.download" in str(error), f"stream.export raised {error}, which does not name the cure")
        return False
    return True


@case()
def exports_come_back(trial: Trial) -> None:
    """An export of either generation is the memory itself: bytes that are written through it are in the memory."""
    if not _shows(trial):
        return
    for stream in trial.streams():
        content = trial.noise(1024)
        memory = trial.holding(stream, content)
        exported = stream.export(memory[256:512], ep.TensorSpec("int16", (4, 8), (8, 1), 16))
        for what, obj in (("itself", exported), ("version 1", SecondHand(exported))):
            view, spec = ep.view(obj, stream)
            seen = as_laid_out(trial.content(stream, view), spec)
            needed = content[256 + 32 : 256 + 96].view(np.int16).reshape(4, 8)
            trial.equal(f"an export that came back ({what})", seen.tolist(), needed.tolist())
            at = spec.offset * spec.itemsize
            stream.fill(view[at : at + 64], what[:1].encode())
            content[256 + 32 : 256 + 96] = ord(what[:1])
            trial.same_bytes(f"memory, written as its export ({what})", trial.content(stream, memory), content)
        old, spec = ep.view(SecondHand(exported, versioned=False), stream)
        trial.require((as_laid_out(trial.content(stream, old), spec) == 0x7676).all(), "version 0 shows the same bytes")  # noqa: PLR2004
        trial.refuses("fill of a version 0 view", ValueError, partial(stream.fill, old, b"\0"), "read-only")


@case()
def every_kind_comes_back(trial: Trial) -> None:
    """Memory of each kind that the device has is exported as well, and comes back as itself."""
    if not _shows(trial):
        return
    stream = trial.stream()
    for kind in sorted(trial.device.info.memory_kinds, key=lambda kind: kind.name):
        memory, content = trial.closing(trial.device.allocate(512, kind)), trial.noise(512)
        stream.upload(memory, content)
        view, _ = ep.view(SecondHand(stream.export(memory[64:], ep.TensorSpec("uint8", (448,)))), stream)
        trial.same_bytes(f"exported {kind.name} memory", trial.content(stream, view), content[64:])
        stream.fill(view[:64], b"\x42")
        content[64:128] = 0x42
        trial.same_bytes(f"{kind.name} memory, written as its export", trial.content(stream, memory), content)


@case()
def tensors_without_elements_are_shown(trial: Trial) -> None:
    """Tensors without elements go like others, from memory with and without bytes."""
    if not _shows(trial):
        return
    stream = trial.stream()
    for nbytes in (0, 64):
        exported = stream.export(trial.memory(nbytes), ep.TensorSpec("float32", (2, 0)))
        memory, spec = ep.view(SecondHand(exported), stream)
        trial.equal("(bytes, shape) of an empty export", (memory.nbytes, spec.shape), (0, (2, 0)))


@case()
def aliases_are_known(trial: Trial) -> None:
    """An export that came back shares bytes with its memory: an overlapping copy is refused."""
    if not _shows(trial):
        return
    stream, memory = trial.stream(), trial.memory(256)
    for at in (0, 64):
        exported = stream.export(memory[at:], ep.TensorSpec("uint8", (128,)))
        for obj in (exported, SecondHand(exported)):
            view, _ = ep.view(obj, stream)
            overlap = memory[at + 32 : at + 160]
            trial.refuses("copy of an overlap", ValueError, partial(stream.copy, view, overlap), "overlap")
            trial.refuses("copy to an overlap", ValueError, partial(stream.copy, overlap, view), "overlap")
            stream.copy(view[:64], memory[at + 64 : at + 128])


@case()
def consumers_wait_for_earlier_work(trial: Trial) -> None:
    """A capsule that is asked for without a stream shows the work that was enqueued before the export."""
    if not _shows(trial):
        return
    for stream in trial.streams():
        old, new = trial.noise(50_000), trial.noise(50_000)
        memory, held = late(trial, stream, old, new)
        exported = stream.export(memory, ep.TensorSpec("uint8", (50_000,)))
        held.open_later()
        if trial.device.reaches_host:
            order = Order(("copy", stream), ("the export", None), otherwise=old)
            trial.same_bytes("what NumPy reads", np.asarray(np.from_dlpack(exported)).view(np.uint8), new, order)
        other = trial.asynchronous()
        view, _ = ep.view(_Asks(exported, stream=None), other)
        order = Order(("copy", stream), ("download", other), otherwise=old)
        trial.same_bytes("what another stream reads", trial.content(other, view), new, order)


class _Asks(SecondHand):
    """Asks for the capsule with a stream of its own choice."""

    def __init__(self, exported: Any, *, stream: Any) -> None:
        super().__init__(exported)
        self.stream = stream

    def __dlpack__(self, **words: Any) -> Any:
        return self.exported.__dlpack__(**{**words, "stream": self.stream})


@case()
def consumers_streams_wait(trial: Trial) -> None:
    """A stream of EP, given as the consumer's or to ep.view, waits for work that was enqueued before the export."""
    if not _shows(trial):
        return
    for stream in trial.streams():
        for kind in ("itself", "stream"):
            old, new = trial.noise(50_000), trial.noise(50_000)
            other = trial.asynchronous()
            memory, held = late(trial, stream, old, new)
            exported = stream.export(memory, ep.TensorSpec("uint8", (50_000,)))
            held.open_later()
            obj = exported if kind == "itself" else _Asks(exported, stream=other)
            view, _ = ep.view(obj, other)
            order = Order(("copy", stream), ("download", other), otherwise=old)
            trial.same_bytes(f"what the waiting stream reads ({kind})", trial.content(other, view), new, order)


@case()
def consumers_queues_wait(trial: Trial) -> None:
    """A native queue, given as the consumer's stream, waits for work that was enqueued before the export."""
    other = trial.asynchronous()
    queue = other.twin.dlpack_stream()  # the one way to a native queue that all providers have
    if queue is None or not _shows(trial):
        return
    for stream in trial.streams():
        old, new = trial.noise(50_000), trial.noise(50_000)
        memory, held = late(trial, stream, old, new)
        held.open_later()
        view, _ = ep.view(_Asks(stream.export(memory, ep.TensorSpec("uint8", (50_000,))), stream=queue), other)
        trial.same_bytes("what the queue reads", trial.content(other, view), new)


@case()
def consumers_may_wait_themselves(trial: Trial) -> None:
    """With stream -1 neither host nor stream waits: the event of the export says when its contents are valid."""
    if not _shows(trial):
        return
    for stream in trial.streams():
        old, new = trial.noise(50_000), trial.noise(50_000)
        other = trial.asynchronous()
        memory, held = late(trial, stream, old, new)
        exported = stream.export(memory, ep.TensorSpec("uint8", (50_000,)))
        view, _ = ep.view(_Asks(exported, stream=-1), other)
        held.open_later()
        exported.event.synchronize()
        trial.same_bytes("what was read after the event", trial.content(other, view), new)


@case()
def unknown_streams_are_refused(trial: Trial) -> None:
    """A stream argument that names no stream of the device type is a ValueError, and the export still works."""
    if not _shows(trial):
        return
    stream, content = trial.stream(), trial.noise(64)
    exported = stream.export(trial.holding(stream, content), ep.TensorSpec("uint8", (64,)))
    kind = exported.__dlpack_device__()[0]
    wrong: list[Any] = ["stream", 1.5, object()]
    if kind in {_CPU, _OPENCL}:
        wrong += [0, 1, 2, 1 << 40]  # those of CUDA mean nothing here
    for value in wrong:
        trial.refuses(f"__dlpack__(stream={value!r})", ValueError, partial(exported.__dlpack__, stream=value), "stream")
    view, _ = ep.view(SecondHand(exported), stream)
    trial.same_bytes("the export", trial.content(stream, view), content)


@case()
def what_cannot_be_exported_is_a_buffer_error(trial: Trial) -> None:
    """A copy, another device, or a tensor that the consumer's version lacks words for is BufferError."""
    if not _shows(trial):
        return
    stream, memory = trial.stream(), trial.memory(64)
    exported = stream.export(memory, ep.TensorSpec("uint8", (64,)))
    trial.refuses("copy=True", BufferError, lambda: exported.__dlpack__(copy=True), "copied")
    trial.refuses("dl_device", BufferError, lambda: exported.__dlpack__(dl_device=(17, 0)), "17:0", "download")
    exported.__dlpack__(dl_device=exported.__dlpack_device__(), copy=False, max_version=(1, 0))
    if trial.device.reaches_host:
        fixed, spec = ep.view(bytes(64), stream)
        shown = stream.export(fixed, spec)
        trial.refuses("read-only in version 0", BufferError, shown.__dlpack__, "read-only")
        for obj in (shown, SecondHand(shown)):
            back, _ = ep.view(obj, stream)
            trial.refuses("fill of what was read-only", ValueError, partial(stream.fill, back, b"\0"), "read-only")


@case()
def closing_while_exported_keeps_the_bytes(trial: Trial) -> None:
    """Memory closed while a consumer has it keeps its bytes until that is gone, as it does for an unused capsule."""
    if not _shows(trial):
        return
    for stream in trial.streams():
        content = trial.noise(300_000)
        memory = trial.device.allocate(content.nbytes)
        stream.upload(memory, content)
        view, _ = ep.view(SecondHand(stream.export(memory, ep.TensorSpec("uint8", (300_000,)))), stream)
        memory.close()
        for _ in range(6):
            stream.fill(trial.memory(300_000), b"\xbd")
        trial.same_bytes("the export of closed memory", trial.content(stream, view), content)
        view.close()
        capsule = stream.export(trial.memory(64), ep.TensorSpec("uint8", (64,))).__dlpack__(max_version=(1, 1))
        del capsule


@case()
def misfits_are_refused(trial: Trial) -> None:
    """What does not fit its memory, is misaligned, closed, or no tensor at all is refused before anything is enqueued."""
    if not _shows(trial):
        return
    stream, memory = trial.stream(), trial.memory(64)
    spec = ep.TensorSpec("float32", (16,))
    trial.refuses("a long tensor", ValueError, lambda: stream.export(memory[:60], spec), "64", "60")
    trial.refuses(
        "an offset", ValueError, lambda: stream.export(memory, ep.TensorSpec("float32", (16,), None, 1)), "68"
    )
    odd = ep.TensorSpec("float32", (4,))
    trial.refuses("a misaligned tensor", ValueError, lambda: stream.export(memory[2:], odd), "itemsize")
    trial.refuses("no spec", TypeError, lambda: stream.export(memory, (16,)), "TensorSpec")  # type: ignore[arg-type]
    trial.refuses("no memory", TypeError, lambda: stream.export(b"abc", spec), "Memory")  # type: ignore[arg-type]
    memory.close()
    trial.refuses("closed memory", ep.ClosedError, lambda: stream.export(memory, spec), "closed")
