"""An attack in a process of its own: it says what it does before it does it, so that a crash is a finding, not the end."""

from __future__ import annotations

import collections
import json
import linecache
import math
import resource
import selectors
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_tools.folders import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Call", "judge", "obey", "watch"]

_MOST_WORDS: Final = 2500
_SECONDS: Final = 1.0  # of one call, of its thread's processor time
_SILENCE: Final = 60.0
_BYTES: Final = 12 << 30
_ROOMS: Final = ("/ep/ep/", "/ep_primitives/", "/ep_cpu/", "/ep_opencl/", "/ep_cuda/", "/ep_sim/", "/ep_simt/")

Call = tuple[str, "Callable[[], Any]"]
"""What an attack yields: the operation's name, and the function that calls it with what it drew."""


class _Order(NamedTuple):
    """What a child is told.

    most : calls, and then the time that they take is not judged; None: as many as there is time for
    """

    seconds: float
    seed: int
    keeps_going: bool
    most: int | None


def watch(
    module: str, seconds: float, seed: int, *, keeps_going: bool = False, most: int | None = None
) -> collections.Counter[str]:
    """Run a module as a child for so long, or for so many calls, and return its counts by "operation: outcome".

    keeps_going : findings are counted, not raised; a child that dies is started again with the next seed

    Raises AssertionError at the first finding, with the seed and the number of the call that show it again.
    """
    counts: collections.Counter[str] = collections.Counter()
    end, last = time.monotonic() + seconds, "start"
    while last and (rest := end - time.monotonic()) > 0:
        order = _Order(rest, seed, keeps_going, most)
        command = [sys.executable, "-m", module, json.dumps(order)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TOOLS) as child:  # noqa: S603 - this program
            last = _listen(child, counts)
        if last:
            if not keeps_going:
                message = f"{module}: seed {seed}, call {last}: the process ended with {child.returncode}"
                raise AssertionError(message)
            counts[f"{last.partition(' ')[2]}: crash {child.returncode}"] += 1
        seed += 1
    return counts


def _listen(child: subprocess.Popen[str], counts: collections.Counter[str]) -> str:
    """Return what the child did last, "" if it ended well; what it says of its calls is added to the counts."""
    assert child.stdout is not None
    last = "0 start"
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(_SILENCE):
                child.kill()
                return f"{last} (silent for {_SILENCE:.0f} s)"
            line = child.stdout.readline()
            if not line:
                child.wait()
                return last
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "call":
                last = rest
            elif word == "did":
                counts[rest] += 1
            elif word == "finding":
                raise AssertionError(json.loads(rest))
            elif word == "end":
                child.wait()
                return ""


def obey(make: Callable[[int, int], Any], draw: Callable[[Any, int, int], Call], check: Callable[[], None]) -> None:
    """Be the child: draw calls and judge them until the time is over.

    make  : returns the world of a seed that the calls from a number on are drawn from, anew every 500 calls
    draw  : returns the call of a seed and a number, in a world
    check : raises AssertionError if the devices do not work any more
    """
    order = _Order(*json.loads(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_DATA, (_BYTES, _BYTES))
    end, number, world = time.monotonic() + order.seconds, 0, make(order.seed, 0)
    while time.monotonic() < end and number != order.most:
        name, call = draw(world, order.seed, number)
        print(f"call {number} {name}", flush=True)
        outcome = judge(call, seconds=_SECONDS if order.most is None else math.inf)
        if outcome.startswith("! "):
            if not order.keeps_going:
                text = f"{Path(sys.argv[0]).stem}: seed {order.seed}, call {number} {name}: {outcome[2:]}"
                print(f"finding {json.dumps(text)}", flush=True)
                return
            outcome = outcome.splitlines()[0][:100]
        print(f"did {name}: {outcome}", flush=True)
        number += 1
        if not number % 100:
            check()
        if not number % 500:
            world = make(order.seed, number)
    check()
    print("end", flush=True)


def judge(call: Callable[[], Any], seconds: float = _SECONDS) -> str:
    """Return how a call ended: "ok", the name of EP's error, or "! " and what is wrong with that end.

    seconds : of the thread's processor time that it may take
    """
    begin = time.thread_time()
    try:
        call()
        outcome = "ok"
    except (ValueError, TypeError, ep.EpError, AttributeError, BufferError) as error:
        outcome = _flaw(error) or type(error).__name__
    except Exception as error:  # noqa: BLE001 - the finding
        outcome = f"! {type(error).__name__}\n{traceback.format_exc()[-3000:]}"
    took = time.thread_time() - begin
    return f"! slow\n{took:.1f} s, {outcome}" if took > seconds else outcome


def _flaw(error: BaseException) -> str:
    """Return what is wrong with an error, "" for a sentence of EP's own, or of Python's about a signature."""
    frames = traceback.extract_tb(error.__traceback__)
    where = frames[-1]
    text = f"{type(error).__name__}: {str(error)[:400]}\n{''.join(traceback.format_list(frames[-3:]))}"
    if len(str(error)) > _MOST_WORDS:
        return f"! {len(str(error))} characters of {type(error).__name__}\n{text}"
    if isinstance(error, AttributeError) and "frozen" not in str(error):
        return f"! raw {text}"
    if any(room in where.filename for room in _ROOMS):
        line = linecache.getline(where.filename, where.lineno or 0).strip()
        return "" if line.startswith("raise") or "signature" in str(error) else f"! raw {text}"
    return "" if "argument" in str(error) else f"! raw {text}"
