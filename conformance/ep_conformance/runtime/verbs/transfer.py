"""Uploads and downloads: lengths, buffers, and when a host buffer may be touched again."""

from __future__ import annotations

import gc
import itertools
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_conformance.fixture.gate import gate, late
from ep_conformance.fixture.long import periodic
from ep_conformance.fixture.order import Order
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_PAGES: Final = 64 << 10


@case()
def round_trip_keeps_every_byte(trial: Trial) -> None:
    """What is uploaded is downloaded, for many lengths, on each kind of stream."""
    for stream in trial.streams():
        for nbytes in (1, 2, 3, 5, 16, 63, 64, 65, 4095, 4096, 4097, 1_000_003):
            sent = trial.noise(nbytes)
            trial.same_bytes(f"{nbytes} bytes", trial.content(stream, trial.holding(stream, sent)), sent)


@case()
def large_buffers_arrive_whole(trial: Trial) -> None:
    """A buffer of 36 MiB and 3 bytes, more than any staging memory, or half of a small device, goes there and back."""
    stream, sent = trial.stream(), trial.noise(trial.fitting(36 << 20, copies=1) + 3)
    trial.same_bytes("buffer", trial.content(stream, trial.holding(stream, sent)), sent)


@case()
def upload_is_over_when_its_event_is_done(trial: Trial) -> None:
    """Once an event after an upload is done, the host may change the buffer."""
    for stream in trial.streams():
        source, memory = trial.noise(300_000), trial.memory(300_000)
        sent = source.copy()
        held = gate(trial, stream)
        stream.upload(memory, source)
        event = stream.record()
        held.open_later()
        event.synchronize()
        source[:] = 0
        order = Order(("upload", stream), ("event.synchronize()", None), otherwise=0)
        trial.same_bytes("memory", trial.content(stream, memory), sent, order)


@case()
def upload_is_over_after_synchronize(trial: Trial) -> None:
    """Once the stream is synchronised, the host may change the buffer."""
    for stream in trial.streams():
        source, memory = trial.noise(10_000), trial.memory(10_000)
        sent = source.copy()
        held = gate(trial, stream)
        stream.upload(memory, source)
        held.open_later()
        stream.synchronize()
        source[:] = 0
        order = Order(("upload", stream), ("stream.synchronize()", None), otherwise=0)
        trial.same_bytes("memory", trial.content(stream, memory), sent, order)


@case(since="1.1")
def large_buffers_may_be_overwritten_at_once(trial: Trial) -> None:
    """The buffer of a large upload is changed as soon as it may be, its end first, and what was uploaded is what it held before."""
    nbytes = trial.fitting(32 << 20, copies=8)
    content = periodic(trial, nbytes)
    source, memory = np.empty_like(content), trial.memory(nbytes)
    for stream in trial.streams():
        for way in ("event.synchronize()", "stream.synchronize()"):
            np.copyto(source, content)
            stream.upload(memory, source)
            if not stream.is_synchronous:  # else the buffer may be changed when upload() returns
                (stream if way == "stream.synchronize()" else stream.record()).synchronize()
            for part in reversed(np.array_split(source, 8)):
                part[:] = 0
            order = Order(("upload", stream), (way, None), otherwise=0)
            trial.same_bytes("memory", trial.content(stream, memory), content, order)


@case(since="1.1")
def large_downloads_are_complete(trial: Trial) -> None:
    """The end of a large download is there as soon as its event is done, though the memory is overwritten at once."""
    nbytes = trial.fitting(32 << 20, copies=8)
    content, target = periodic(trial, nbytes), np.empty(nbytes, np.uint8)
    memory = trial.memory(nbytes)
    for stream in trial.streams():
        target.fill(0)
        stream.upload(memory, content)
        stream.download(target, memory)
        event = stream.record()
        stream.fill(memory, b"\xaa")
        event.synchronize()
        end = target[-4096:].copy()
        orders = (
            Order(("download", stream), ("event.synchronize()", None), otherwise=0),
            Order(("download", stream), ("fill", stream), otherwise=0xAA),
        )
        trial.same_bytes("the end of the target", end, content[-4096:], *orders)
        trial.same_bytes("target", target, content, *orders)
        stream.synchronize()


@case(since="1.1")
def tails_above_64_kib(trial: Trial) -> None:
    """Buffers of 64 KiB and 1 to 65 bytes more go from odd addresses to odd offsets and back to their last byte, and no further."""
    for stream in (trial.asynchronous(), trial.stream()):
        sent, before = trial.noise(_PAGES + 256), trial.noise(_PAGES + 256)
        memory = trial.memory(before.nbytes)
        for more in range(1, 66):
            at, to = (int(place) for place in 2 * trial.rng.choice(32, 2, replace=False) + 1)
            nbytes, needed, back = _PAGES + more, before.copy(), before.copy()
            stream.upload(memory, before)
            stream.upload(memory[to : to + nbytes], sent[at : at + nbytes])
            stream.download(back[at : at + nbytes], memory[to : to + nbytes])
            needed[to : to + nbytes] = sent[at : at + nbytes]
            what = f"{nbytes} bytes, {at} after an aligned address and at offset {to}"
            trial.same_bytes(f"memory with {what}", trial.content(stream, memory), needed)
            needed = before.copy()
            needed[at : at + nbytes] = sent[at : at + nbytes]
            trial.same_bytes(f"buffer with {what}", back, needed)


@case()
def upload_keeps_its_buffer_alive(trial: Trial) -> None:
    """A source buffer without other references lives until it was read."""
    for stream in trial.streams():
        sent = trial.noise(200_000)
        memories = [trial.memory(sent.nbytes) for _ in range(8)]
        held = gate(trial, stream)
        for memory in memories:
            stream.upload(memory, sent.copy())
        gc.collect()
        scraps = [np.zeros(sent.nbytes, np.uint8) for _ in range(16)]
        held.open()
        for memory in memories:
            trial.same_bytes("memory", trial.content(stream, memory), sent)
        del scraps


@case()
def download_is_complete_when_its_event_is_done(trial: Trial) -> None:
    """Once an event after a download is done, the target holds all of it."""
    for stream in trial.streams():
        old, new = trial.noise(500_000), trial.noise(500_000)
        target = np.zeros(new.nbytes, np.uint8)
        memory, held = late(trial, stream, old, new)
        stream.download(target, memory)
        event = stream.record()
        held.open_later()
        event.synchronize()
        orders = (
            Order(("download", stream), ("event.synchronize()", None), otherwise=0),
            Order(("copy", stream), ("download", stream), otherwise=old),
        )
        trial.same_bytes("target", target, new, *orders)


@case()
def partial_upload_leaves_neighbours(trial: Trial) -> None:
    """An upload writes its view and nothing beside it."""
    for stream in trial.streams():
        content = trial.noise(10_000)
        memory, piece = trial.holding(stream, content), trial.noise(1001)
        stream.upload(memory[4999:6000], piece)
        content[4999:6000] = piece
        trial.same_bytes("memory", trial.content(stream, memory), content)


@case()
def partial_download_reads_its_view(trial: Trial) -> None:
    """A download reads its view and nothing beside it, and writes no more than its target."""
    for stream in trial.streams():
        content = trial.noise(10_000)
        memory, target = trial.holding(stream, content), np.zeros(1200, np.uint8)
        stream.download(target[100:1101], memory[4999:6000])
        stream.synchronize()
        needed = np.zeros(1200, np.uint8)
        needed[100:1101] = content[4999:6000]
        trial.same_bytes("target", target, needed)


@case()
def host_buffers_begin_anywhere(trial: Trial) -> None:
    """Host buffers at odd addresses, too, are read and written whole, and nothing beside them."""
    for stream in trial.streams():
        for shift, nbytes in itertools.product((1, 2, 3, 4, 7, 8), (1, 64, 5001)):
            sent, back = trial.noise(nbytes + 16), trial.noise(nbytes + 16)
            memory, needed = trial.memory(nbytes), back.copy()
            needed[shift : shift + nbytes] = sent[8 - shift : 8 - shift + nbytes]
            stream.upload(memory, sent[8 - shift : 8 - shift + nbytes])
            stream.download(back[shift : shift + nbytes], memory)
            stream.synchronize()
            what = f"buffer, {nbytes} bytes from {8 - shift} to {shift} bytes after an aligned address,"
            trial.same_bytes(what, back, needed)


@case()
def typed_and_shaped_buffers_are_bytes(trial: Trial) -> None:
    """A contiguous array of any shape and type is uploaded and downloaded as its bytes."""
    stream = trial.stream()
    sent = trial.rng.standard_normal((5, 7, 3)).astype(np.float32)
    memory, back = trial.memory(sent.nbytes), np.zeros((5, 7, 3), np.float32)
    stream.upload(memory, sent)
    stream.download(back, memory)
    stream.synchronize()
    trial.same_bytes("array", back.view(np.uint8).reshape(-1), sent.view(np.uint8).reshape(-1))


@case()
def wrong_buffers_are_refused(trial: Trial) -> None:
    """Unlike lengths, gaps and read-only targets are ValueError, other objects TypeError; nothing is enqueued."""
    stream, content = trial.stream(), trial.noise(64)
    memory = trial.holding(stream, content)
    short: object = 7
    trial.refuses("upload of 63 bytes", ValueError, lambda: stream.upload(memory, bytes(63)), "upload", "63", "64")
    trial.refuses("download of 65 bytes", ValueError, lambda: stream.download(bytearray(65), memory), "download", "65")
    trial.refuses("upload with gaps", ValueError, lambda: stream.upload(memory, np.zeros(128, np.uint8)[::2]), "upload")
    trial.refuses("download to bytes", ValueError, lambda: stream.download(bytes(64), memory), "download", "read-only")
    trial.refuses("upload of an integer", TypeError, lambda: stream.upload(memory, short), "upload")  # type: ignore[arg-type]
    trial.same_bytes("memory", trial.content(stream, memory), content)
