"""Let a kernel of cuda:0 read memory that is gone, and compare what every later call says with what it should: exit 0 or 1.

Each way is a process of its own, since it ends with a lost device: see check.sh.
"""  # noqa: INP001 - a script, no package

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Final

from ep_primitives import ElementwiseUnary

import ep

if TYPE_CHECKING:
    from collections.abc import Callable

_NBYTES: Final = 64 << 20
"""Of the memory that goes: as much has pages of its own, which are gone with it."""
_SPEC: Final = ep.TensorSpec("float32", (256,))
_CALLS: Final = ("synchronize", "synchronize", "launch", "allocate", "stream")

# Of each way whether EP_VALIDATE=1 is set, what each call says of the place, and what the first error's text has.
_WAYS: Final = {
    "launches": ("1", ["exp 7 None"] * 5, "which has to end"),
    "graph": ("1", ["exp 6 1"] * 5, "which has to end"),
    "unnamed": (
        "",
        ["None None None"] * 2 + ["abs 2 None"] + ["None None None"] * 2,
        "at fault was one of enqueues 6 (abs) to 8 (negative) of cuda:0/stream0; run it with EP_VALIDATE=1",
    ),
}


def lose(way: str) -> None:
    """Print of each call after the loss where it says that it happened, then whether the stream is idle, then the first error."""
    device = ep.device("cuda:0")
    stream, other = device.stream(synchronous=False), device.stream(synchronous=False)
    launches = [ElementwiseUnary.infer(op, _SPEC).on(device) for op in ("abs", "exp", "negative")]
    x, out = device.allocate(_SPEC.nbytes), device.allocate(_SPEC.nbytes)
    stream.fill(x, b"\0")
    for launch in launches:
        launch(stream, x=x, out=out)
    stream.synchronize()
    other.fill(out, b"\0")
    other.synchronize()
    gone = _gone(device)
    release = threading.Event()
    stream.call(release.wait)
    sources = zip(launches, (x, gone, x), strict=True)
    if way == "graph":
        with stream.capture() as graph:
            for launch, source in sources:
                launch(stream, x=source, out=out)
        graph.launch(stream)
    else:
        for launch, source in sources:
            launch(stream, x=source, out=out)
    release.set()
    calls: tuple[Callable[[], Any], ...] = (
        stream.synchronize,
        stream.synchronize,
        lambda: launches[0](other, x=x, out=out),
        lambda: device.allocate(1 << 20),
        device.stream,
    )
    errors = [_error_of(call) for call in calls]
    for name, error in zip(_CALLS, errors, strict=True):
        print(name, *(("-",) if error is None else (error.op, error.sequence, error.node)))  # noqa: T201 - a script
    print(stream.is_idle)  # noqa: T201 - a script
    print(errors[0])  # noqa: T201 - a script
    for each in (stream, other):
        _error_of(each.close)


def _gone(device: ep.Device) -> ep.Memory:
    """Return memory that the driver has freed behind EP's back."""
    twin: Any = device.twin
    with twin.context as driver:
        address = driver.answer("cuMemAlloc_v2", "CUdeviceptr", _NBYTES)
    wrapped = device.wrap_memory(address, _NBYTES, owner=device)
    with twin.context as driver:
        driver.call("cuMemFree_v2", address)
    return wrapped


def _error_of(call: Callable[[], Any]) -> ep.DeviceLostError | None:
    try:
        call()
    except ep.DeviceLostError as error:
        return error
    return None


def main() -> int:
    """Run each way, and say what it said otherwise than it should."""
    wrong = 0
    for way, (validate, places, text) in _WAYS.items():
        environment = {**os.environ, "EP_VALIDATE": validate}
        done = subprocess.run(  # noqa: S603 - this very script
            [sys.executable, __file__, way], env=environment, capture_output=True, text=True, check=False
        )
        needed = [*(f"{call} {place}" for call, place in zip(_CALLS, places, strict=True)), "True"]
        is_right = done.stdout.splitlines()[: len(needed)] == needed and text in done.stdout
        wrong += not is_right
        print(f"{way}: {'as it should' if is_right else f'{done.stdout}{done.stderr}needed {needed}, and {text!r}'}")  # noqa: T201 - a script
    return int(bool(wrong))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        lose(sys.argv[1])
    else:
        sys.exit(main())
