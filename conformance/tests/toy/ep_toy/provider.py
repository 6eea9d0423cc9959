"""Host memory in bytearrays, must methods alone; the kernel is NumPy's, spoiled for outputs of 17 elements."""

import fcntl
import os
import stat
import time
from pathlib import Path

import numpy as np
from ep_conformance.run.channel import frame
from ep_primitives import ElementwiseUnary
from ep_primitives.judging import layout

import ep

BEHAVIOUR = os.environ.get("EP_TOY", "good")
MARK = Path(os.environ.get("EP_TOY_MARK", os.devnull))
MEMORY = 1 << 40
STATE = {"is spoiled": False}


class ToyKernel(ep.Kernel):
    def __init__(self, descriptor):
        self.descriptor = descriptor

    def launch(self, stream, memories, scalars):
        x, out = (
            layout.view(spec, memory.handle, memory.offset)
            for spec, memory in zip(self.descriptor.specs, memories, strict=True)
        )
        if out.size == 17:
            misbehave()
        is_victim = BEHAVIOUR == "spoils" and STATE["is spoiled"] and out.size > 17
        out[...] = np.maximum(x, 0) + (is_victim or (BEHAVIOUR == "wrong" and out.size == 17))


def misbehave():
    STATE["is spoiled"] = True
    match BEHAVIOUR:
        case "poisons":
            raise ZeroDivisionError("deep inside the vendor's code")
        case "crash" | "dies-for-good":
            MARK.touch()
            os.abort()
        case "hang":
            MARK.touch()
            time.sleep(1000)
        case "leaves-a-child" | "floods" | "closes" | "begins":
            meddle()
        case "lost":
            raise ep.DeviceLostError("the device fell off the bus", provider="toy", call="launch", code=-1)
        case "flaky" if not MARK.exists():
            MARK.touch()
            raise ValueError("only this once")
        case "flaky-later":
            MARK.write_bytes(b"." * (launches := len(MARK.read_bytes() if MARK.exists() else b"") + 1))
            if launches > 2:
                raise ValueError("only from the second case on, of two launches each")
        case "raises":
            raise ZeroDivisionError("deep inside the vendor's code")


def meddle():
    """Do to every pipe that this process was given what a library does to a descriptor that is not its own."""
    descriptors = [int(path.name) for path in Path("/proc/self/fd").iterdir()]
    given = [number for number in descriptors if number > 2 and is_pipe(number)]
    for number in given:
        match BEHAVIOUR:
            case "junk-at-once":
                os.write(number, b"\x7f\xff\xff\xff junk")
            case "closes":
                os.close(number)
            case "begins" | "begins-at-once":
                os.write(number, frame(["start", "much more than this"])[:-1])
    if BEHAVIOUR == "leaves-a-child" and os.fork():
        os.abort()
    while BEHAVIOUR == "floods":
        for number in given:
            os.write(number, b"flood" * 10_000)
    time.sleep(30)
    os._exit(0)


def is_pipe(number):
    try:
        mode, flags = os.fstat(number).st_mode, fcntl.fcntl(number, fcntl.F_GETFL)
    except OSError:  # what listed them is closed again
        return False
    return (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and flags & os.O_ACCMODE != os.O_RDONLY


class ToyRelu(ep.Implementation):
    def accepts(self, descriptor, info):
        if descriptor.op == "relu" and descriptor.specs[0].dtype == "float32" and BEHAVIOUR != "unsupported":
            return True
        raise ep.UnsupportedError("relu in float32 only")

    def create(self, descriptor, device, code):
        return ToyKernel(descriptor)


class ToyStream(ep.spi.Stream):
    def copy(self, dst, src, nbytes):
        if BEHAVIOUR == "vanishes":
            MARK.touch()
            os._exit(1)
        if BEHAVIOUR == "deaf" or (BEHAVIOUR in {"poisons", "spoils-the-bus"} and STATE["is spoiled"] and nbytes == 64):
            raise OSError("the bus does not answer")
        place(dst, nbytes)[:] = place(src, nbytes)

    def synchronize(self):
        pass


def place(side, nbytes):
    return memoryview(side.handle)[side.offset : side.offset + nbytes] if isinstance(side, ep.Memory) else side


class ToyDevice(ep.spi.Device):
    def allocate(self, nbytes, kind):
        if nbytes > MEMORY:
            raise ep.OutOfMemoryError("too much", requested=nbytes)
        return bytearray(nbytes)

    def free(self, handle, kind):
        pass

    def stream(self, ledger, *, priority, timed, synchronous):
        if synchronous is False:
            raise ep.UnsupportedError("synchronous only")
        return ToyStream(ledger, is_synchronous=True, is_timed=timed)


class ToyProvider(ep.spi.Provider):
    implementations = {} if BEHAVIOUR == "empty" else {ElementwiseUnary: (ToyRelu(),)}

    def probe(self):
        if BEHAVIOUR == "unavailable" or (BEHAVIOUR in {"dies-for-good", "vanishes"} and MARK.exists()):
            raise ep.UnavailableError("no toy is plugged in")
        if BEHAVIOUR in {"junk-at-once", "begins-at-once"}:
            meddle()
        if BEHAVIOUR == "aborts":
            os.abort()
        if BEHAVIOUR == "broken":
            raise RuntimeError("the vendor's library is of another year")

    def devices(self):
        return [ToyDevice(ep.DeviceInfo("toy", "EP", alignment=8, features=frozenset({"cpu"})))]
