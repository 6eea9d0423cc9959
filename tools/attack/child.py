"""An attack in a process of its own: it says what it does before it does it, so that a crash is a finding, not the end."""

from __future__ import annotations

import collections
import json
import linecache
import resource
import selectors
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import ep

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Call", "judge", "obey", "watch"]

_MOST_WORDS: Final = 2500
_SECONDS: Final = 1.0  # of one call, of its thread's processor time
_SILENCE: Final = 60.0
_BYTES: Final = 12 << 30
_ROOMS: Final = ("/ep/ep/", "/ep_primitives/", "/ep_cpu/", "/ep_opencl/", "/ep_sim/", "/ep_simt/")

Call = tuple[str, "Callable[[], Any]"]
"""What an attack yields: the operation's name, and the function that calls it with what it drew."""


def watch(program: str, seconds: float, seed: int, *, keeps_going: bool = False) -> collections.Counter[str]:
    """Run `program` as a child for so long and return its counts by "operation: outcome".

    keeps_going : findings are counted, not raised; a child that dies is started again with the next seed

    Raises AssertionError at the first finding, with the seed and the number of the call that show it again.
    """
    counts: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + seconds
    while (rest := end - time.monotonic()) > 0:
        command = [sys.executable, program, str(rest), str(seed), str(int(keeps_going))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            last = _listen(child, counts)
        if last is not None:
            finding = f"{last}: the process ended with {child.returncode}"
            if not keeps_going:
                raise AssertionError(f"{Path(program).stem}: seed {seed}, call {finding}")
            counts[f"{last.partition(' ')[2]}: crash {child.returncode}"] += 1
        seed += 1
    return counts


def _listen(child: subprocess.Popen[str], counts: collections.Counter[str]) -> str | None:
    """Return what the child did last, None if it ended well; what it says of its calls is added to the counts."""
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
                return None


def obey(draw: Callable[[Any, int], Call], check: Callable[[], None], make: Callable[[int], Any]) -> None:
    """Be the child: draw calls and judge them until the time is over.

    make  : returns the world that calls are drawn from, anew every 500 calls; it is told the number of the next one
    draw  : returns call number n of a world
    check : raises AssertionError if the devices do not work any more
    """
    seconds, seed, keeps_going = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1"
    resource.setrlimit(resource.RLIMIT_DATA, (_BYTES, _BYTES))
    end, number, world = time.monotonic() + seconds, 0, make(0)
    while time.monotonic() < end:
        name, call = draw(world, number)
        print(f"call {number} {name}", flush=True)
        fault = outcome = judge(call)
        if outcome.startswith("! "):
            if not keeps_going:
                text = f"{Path(sys.argv[0]).stem}: seed {seed}, call {number} {name}: {fault[2:]}"
                print(f"finding {json.dumps(text)}", flush=True)
                return
            outcome = fault.splitlines()[0][:100]
        print(f"did {name}: {outcome}", flush=True)
        number += 1
        if not number % 100:
            check()
        if not number % 500:
            world = make(number)
    check()
    print("end", flush=True)


def judge(call: Callable[[], Any]) -> str:
    """Return how a call ended: "ok", the name of EP's error, or "! " and what is wrong with that end."""
    begin = time.thread_time()
    try:
        call()
        outcome = "ok"
    except (ValueError, TypeError, ep.EpError, AttributeError, BufferError) as error:
        outcome = _flaw(error) or type(error).__name__
    except Exception as error:  # the finding
        outcome = f"! {type(error).__name__}\n{traceback.format_exc()[-3000:]}"
    took = time.thread_time() - begin
    return f"! slow\n{took:.1f} s, {outcome}" if took > _SECONDS else outcome


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
