"""Interchange: tensors of others, seen in place. Those of EP for others are in export.py; see docs/interchange.md."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.lender import Elsewhere, Lender, as_laid_out
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.fixture.gate import Gate
    from ep_conformance.fixture.trial import Bytes, Trial


def _reaches_host(trial: Trial) -> bool:
    """Say whether the device reaches host memory; if not, its error must name an alternative."""
    if trial.device.reaches_host:
        return True
    stream = trial.stream()
    for what, obj in (("an array", np.zeros(4)), ("a lender", Lender(np.zeros(4))), ("bytes", b"abcd")):
        trial.refuses(f"ep.view({what}, stream)", ValueError, partial(ep.view, obj, stream), "stream.upload")
    return False


def _lent(trial: Trial, content: Bytes) -> Iterator[tuple[str, Any]]:
    """Yield objects of every protocol over one array that may be written."""
    del trial
    yield "array", content
    yield "DLPack 1 object", Lender(content)
    yield "buffer", content.data


@case()
def views_share_bytes(trial: Trial) -> None:
    """What one side of a view writes the other reads: arrays, buffers and DLPack objects, nothing copied."""
    if not _reaches_host(trial):
        return
    for stream in trial.streams():
        array = trial.noise(1000)
        for what, obj in _lent(trial, array):
            memory, spec = ep.view(obj, stream)
            trial.equal(f"the spec of a view of a {what}", spec, ep.TensorSpec("uint8", (1000,)))
            array[:] = trial.noise(1000)
            trial.same_bytes(f"a view of a {what}", trial.content(stream, memory), array)
            stream.fill(memory[100:200], b"\x42")
            stream.synchronize()
            trial.require((array[100:200] == 0x42).all(), f"a fill of a view writes the {what}")  # noqa: PLR2004
            memory.close()


@case()
def read_only_objects_stay_so(trial: Trial) -> None:
    """What is read-only, or of a generation that cannot say, is read and never written."""
    if not _reaches_host(trial):
        return
    stream, array = trial.stream(), trial.noise(100)
    fixed, source = array.copy(), trial.memory(100)
    fixed.flags.writeable = False
    lenders = (("array", fixed), ("bytes", array.tobytes()), ("DLPack 1 object", Lender(fixed)))
    for what, obj in (*lenders, ("DLPack 0 object", Lender(array, versioned=False))):
        memory, _ = ep.view(obj, stream)
        trial.same_bytes(f"a view of a read-only {what}", trial.content(stream, memory), array)
        trial.refuses(f"fill of a {what}", ValueError, partial(stream.fill, memory, b"\0"), "read-only")
        trial.refuses(f"copy to a {what}", ValueError, partial(stream.copy, memory, source), "read-only")
        trial.refuses(f"upload to a {what}", ValueError, partial(stream.upload, memory, array), "read-only")
        memory.close()


@case()
def views_keep_strides_and_offsets(trial: Trial) -> None:
    """Transposed, reversed, sliced, broadcast and rank-0 tensors are seen as they lie."""
    if not _reaches_host(trial):
        return
    stream = trial.stream()
    whole = np.arange(120, dtype=np.int32).reshape(4, 5, 6)
    layouts = [whole.T, whole[::-1, 1::2], whole[2:, :, 3], whole[:, ::-2, ::-1], np.broadcast_to(whole[0, 0], (3, 6))]
    for array in [*layouts, whole[1, 2, 3, ...], whole[1, 2:3, 3].reshape(())]:
        for obj in (array, Lender(array), Lender(array, versioned=False)):
            if not array.flags.writeable and isinstance(obj, Lender) and not obj.versioned:
                continue  # NumPy does not lend it
            memory, spec = ep.view(obj, stream)
            seen = as_laid_out(trial.content(stream, memory), spec)
            trial.equal(f"a view of shape {array.shape}, strides {array.strides}", seen.tolist(), array.tolist())
            memory.close()


@case()
def tensors_without_elements_are_seen(trial: Trial) -> None:
    """Tensors without elements come like others."""
    if not _reaches_host(trial):
        return
    stream = trial.stream()
    for array in (np.zeros((3, 0, 2), np.float32), np.zeros((4, 5))[:, 5:]):
        for obj in (array, Lender(array), Lender(array, versioned=False)):
            memory, spec = ep.view(obj, stream)
            trial.equal("(bytes, shape) of an empty view", (memory.nbytes, spec.shape), (0, array.shape))


@case()
def owners_live_as_long_as_work(trial: Trial) -> None:
    """A lender is kept until no enqueued work can touch its bytes, and no longer."""
    if not _reaches_host(trial):
        return
    for stream in trial.streams():
        target, content = trial.memory(300_000), trial.noise(300_000)
        token, held = _enqueue_view(trial, stream, target, content)
        gc.collect()
        trial.require(not held.holds or token() is not None, "the lender is there until its work is done")
        held.open()
        trial.same_bytes("what was read from a lender that was dropped", trial.content(stream, target), content)
        trial.device.synchronize()
        gc.collect()
        trial.require(token() is None, "the lender is let go once its work is done")


def _enqueue_view(trial: Trial, stream: ep.Stream, target: ep.Memory, content: Bytes) -> tuple[Any, Gate]:
    array = content.view(_Token)[:]
    held = gate(trial, stream)
    memory, _ = ep.view(array, stream)
    stream.copy(target, memory)
    return weakref.ref(array), held


class _Token(np.ndarray):
    """An array whose end can be seen."""


@case()
def deleters_are_called_once(trial: Trial) -> None:
    """The deleter of each generation is called once, whether its memory is closed, dropped, or could not be made."""
    if not _reaches_host(trial):
        return
    stream = trial.stream()
    for versioned in (True, False):
        lender = Lender(trial.noise(100), versioned=versioned)
        memory, _ = ep.view(lender, stream)
        trial.equal("deletions while the view is open", lender.deletions, 0)
        memory.close()
        memory.close()
        trial.device.synchronize()
        trial.equal("deletions after close()", lender.deletions, 1)
        memory, _ = ep.view(lender, stream)
        del memory
        gc.collect()
        trial.device.synchronize()
        trial.equal("deletions after the second view was dropped", lender.deletions, 2)
        odd = Lender(np.zeros(9, np.uint8)[1:].view(np.float64), versioned=versioned)
        trial.refuses("ep.view of a misaligned tensor", ValueError, partial(ep.view, odd, stream), "aligned")
        gc.collect()
        trial.equal("deletions of what could not be viewed", odd.deletions, 1)


@case()
def memory_out_of_reach_is_refused(trial: Trial) -> None:
    """What the device cannot reach is a ValueError that names stream.upload; the object is not even asked."""
    stream = trial.stream()
    _reaches_host(trial)
    elsewhere = Elsewhere()
    trial.refuses("ep.view", ValueError, lambda: ep.view(elsewhere, stream), "stream.upload", "17")
    trial.refuses("ep.view(3, stream)", TypeError, lambda: ep.view(3, stream), "buffer or DLPack")
    trial.refuses("ep.view(obj, None)", TypeError, lambda: ep.view(b"a", None), "Stream")  # type: ignore[arg-type]
