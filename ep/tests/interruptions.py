"""Something happens at the n-th place where CPython lets a signal handler run: after a call, where a function begins, at a loop's end."""

from __future__ import annotations

import dis
import functools
import gc
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FOLDERS = tuple(str(ROOT / folder) for folder in ("ep/ep/", "providers/"))
_POINTS = {
    dis.opmap[name]
    for name in ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD", "INSTRUMENTED_CALL")
    if name in dis.opmap
}


@functools.cache
def _handlers(code):
    """Return what catches exceptions in a code object: (first byte, last byte, handler) of each range."""
    return [(entry.start, entry.end, entry.target) for entry in dis._parse_exception_table(code)]


def _handler(code, offset):
    return [target for start, end, target in _handlers(code) if start <= offset < end]


def _is_finalizing(frame):
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


class Interruption:
    """Calls `act` once, at one of the places that a program passes in the code of EP.

    at      : which one, from 0 on
    raises  : True if `act` raises. CPython raises what a handler raises at the call that it came after, a trace at what
              follows: places where something else would catch it are left out
    place   : where that was, "" if the program has fewer
    """

    def __init__(self, act, at, *, raises):
        self._act = act
        self._left = at
        self._raises = raises
        self._last = {}
        self.place = ""

    def __enter__(self):
        self._collected = gc.isenabled()
        gc.disable()  # what it makes traceable would shift the places
        self._hear, sys.unraisablehook = sys.unraisablehook, self._hear_not
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_):
        sys.settrace(None)
        sys.unraisablehook = self._hear
        self._last.clear()
        if self._collected:
            gc.enable()

    def _hear_not(self, unraisable):
        """Let go of a Ctrl-C in a generator that is closed half-way: pytest would keep it, and all that its frames have."""
        if unraisable.exc_type is not KeyboardInterrupt:
            self._hear(unraisable)

    def _trace(self, frame, event, _):
        code = frame.f_code
        if not code.co_filename.startswith(_FOLDERS) or "/tests/" in code.co_filename:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            last, here = self._last.get(frame), frame.f_lasti
            self._last[frame] = here
            is_place = last is not None and code.co_code[last] in _POINTS
            if is_place and self._raises:
                is_place = _handler(code, last) == _handler(code, here)
        else:
            is_place = event == "call"
        if event == "return":
            self._last.pop(frame, None)
        if is_place:
            if not self._left and self._raises and _is_finalizing(frame):
                return self._trace  # nobody hears what a finalizer raises: the next place outside it
            if not self._left:
                self.place = f"{Path(code.co_filename).name}:{frame.f_lineno} {code.co_name}"
                sys.settrace(None)
                self._last.clear()  # frames keep what they had
                self._act()
                return None
            self._left -= 1
        return self._trace


def everywhere(program, act, step=1, *, raises=False):
    """Run a program again and again, each time with `act` at a later place, and yield each place once it has run.

    step : 1 for every place, 7 for every seventh
    """
    at = 0
    while True:
        with Interruption(act, at, raises=raises) as interruption:
            program()
        if not interruption.place:
            return
        yield interruption.place
        at += step
