"""A CUDA graph: the captured nodes as one chain of the driver's, launched by one call."""

from __future__ import annotations

import functools
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ep.work.executable import Replay
from ep_simt import PortableKernel

import ep
from ep_cuda.driver import ffi
from ep_cuda.kernel_node import KernelNode
from ep_cuda.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_cuda.device import CudaDevice
    from ep_cuda.driver import Context
    from ep_cuda.stream import CudaStream

__all__ = ["CudaGraph"]

_Starts = tuple[tuple[int, int], ...]
"""Of each slot's memory the handle and the offset in bytes."""

_UNKNOWN: Final = (0, -1)
_RELAXED: Final = 2  # CU_STREAM_CAPTURE_MODE_RELAXED


class CudaGraph(ep.Executable):
    """Kernels are nodes of their own, so that their arguments may follow a slot; what else a stream enqueues is captured.

    Launches that give other memories set the arguments of the nodes that those touch, and keep them for the next. A
    launch that gives a memory which a captured node touches runs node after node, as without a CUDA graph, and so does
    one into a stream that others capture, where the driver takes kernels and copies but no graph.
    """

    def __init__(self, device: CudaDevice, nodes: tuple[ep.Node, ...], slots: tuple[ep.Slot, ...]) -> None:
        """Build it. Raises DeviceError if the driver refuses a node."""
        self._device = device
        self._replay = Replay(nodes, slots)
        self._turn = threading.RLock()
        self._is_pointing = False
        self._graph = self._executable = None
        self._kernels: dict[int, list[KernelNode]] = {}
        try:
            with device.context as driver, _at_ease(driver):
                self._graph = driver.answer("cuGraphCreate", "CUgraph", 0)
                self._build(nodes)
                self._executable = driver.answer("cuGraphInstantiateWithFlags", "CUgraphExec", self._graph, 0)
        except BaseException:
            self.close()
            raise
        self._targets = [
            [
                (kernel, operand, offset)
                for node, operand, offset in slot.places
                for kernel in self._kernels.get(node, ())
            ]
            for slot in slots
        ]
        self._is_fixed = [
            any(node not in self._kernels and not nodes[node].is_empty for node, _, _ in slot.places) for slot in slots
        ]
        self._captured: _Starts = tuple((slot.memory.handle, slot.memory.offset) for slot in slots)
        self._pointed = self._captured

    def _build(self, nodes: tuple[ep.Node, ...]) -> None:
        recorder = None
        last = ffi.new("CUgraphNode[]", 1)
        try:
            for place, node in enumerate(nodes):
                if node.is_empty:
                    continue
                if not isinstance(node.what, str) and isinstance(node.what.kernel, PortableKernel):
                    commands = node.what.kernel.commands(node.memories, node.scalars)
                    self._kernels[place] = [KernelNode(command) for command in commands]
                    for kernel in self._kernels[place]:
                        kernel.native = last[0] = self._added("cuGraphAddKernelNode_v2", last, kernel.parameters)
                else:
                    recorder = recorder or Recorder(self._device, nodes)
                    with recorder.recording(node) as captured:
                        last[0] = self._added("cuGraphAddChildGraphNode", last, captured)
        finally:
            if recorder is not None:
                recorder.close()

    def _added(self, name: str, last: Any, what: Any) -> Any:
        """Return a new node of the driver's after the last one."""
        with self._device.context as driver:
            return driver.answer(name, "CUgraphNode", self._graph, last, int(bool(last[0])), what)

    def bind(self, bindings: tuple[ep.Memory | None, ...]) -> Callable[..., Any]:
        pairs = zip(bindings, self._is_fixed, strict=True)
        if any(is_fixed and memory is not None for memory, is_fixed in pairs):
            return self._replay.bind(bindings)
        given = tuple(
            [
                captured if memory is None else (memory.handle, memory.offset)
                for memory, captured in zip(bindings, self._captured, strict=True)
            ]
        )
        return functools.partial(self._run, given, bindings)

    def _run(self, given: _Starts, bindings: tuple[ep.Memory | None, ...], stream: CudaStream, *_: Any) -> None:
        if stream.is_captured():
            self._replay.bind(bindings)(stream, (), ())
            return
        with self._turn:
            # A signal handler launches in the middle of another launch, or a thread what another one has closed.
            if self._is_pointing or self._executable is None:
                self._replay.bind(bindings)(stream, (), ())
                return
            self._is_pointing = True
            try:
                with self._device.context as driver:
                    self._point(given)
                    status = driver.functions.cuGraphLaunch(self._executable, stream.native)
            finally:
                self._is_pointing = False
        stream.placed("cuGraphLaunch", status)

    def _point(self, given: _Starts) -> None:
        """Set the arguments of the nodes whose memories have changed since the last launch; those under way keep theirs."""
        if given == self._pointed:
            return
        # After an error or Ctrl-C half way, the next launch sets all arguments anew.
        pointed, self._pointed = self._pointed, (_UNKNOWN,) * len(given)
        changed: dict[int, KernelNode] = {}
        for slot, (handle, start) in enumerate(given):
            if (handle, start) != pointed[slot]:
                for kernel, operand, offset in self._targets[slot]:
                    kernel.point(operand, handle, start + offset)
                    changed[id(kernel)] = kernel
        for kernel in changed.values():
            kernel.fill()
            self._device.context.call(
                "cuGraphExecKernelNodeSetParams_v2", self._executable, kernel.native, kernel.parameters
            )
        self._pointed = given

    def close(self) -> None:
        with self._turn, self._device.context as driver, _at_ease(driver):
            executable, self._executable = self._executable, None
            graph, self._graph = self._graph, None
            if executable is not None:
                driver.functions.cuGraphExecDestroy(executable)
            if graph is not None:
                driver.functions.cuGraphDestroy(graph)


@contextmanager
def _at_ease(driver: Context) -> Iterator[None]:
    """Let this thread make and destroy graphs while others capture a stream, which would break their capture."""
    mode = ffi.new("int *", _RELAXED)
    driver.functions.cuThreadExchangeStreamCaptureMode(mode)
    try:
        yield
    finally:
        driver.functions.cuThreadExchangeStreamCaptureMode(mode)
