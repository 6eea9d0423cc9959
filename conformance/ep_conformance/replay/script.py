"""A failing case as a Python script of at most 30 lines that shows the defect: for a bug report, or a debugger."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

import ep
from ep_conformance.judge.outcome import DEATHS
from ep_conformance.plan.catalogue import CellCase, find
from ep_conformance.plan.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ep_conformance.judge.construction import Construction
    from ep_conformance.replay.file import Replay, Work

__all__ = ["MOST_COLUMNS", "MOST_LINES", "script_of"]

MOST_LINES: Final = 30
MOST_COLUMNS: Final = 120

_PLAIN: Final = frozenset("bBhHiIlLqQfd")
_EDGE: Final = "(edge := -(-256 // device.info.alignment) * device.info.alignment)"
_NAN: Final = "(given != given and needed != needed)"

Array = npt.NDArray[Any]


def script_of(replay: Replay, path: Path, device: str) -> str:
    """Return the script; it exits 1 if the defect shows, 0 if it does not.

    path    : of the replay file, from which operands are read that are too large for a script
    device  : name of the one that it runs on unless it is called with another

    It needs EP and NumPy alone where it can, with the smallest work that fails; else it runs the case by the suite.
    """
    least = replay.smallest
    details = {"kind": "raised"} if replay.status in [str(status) for status in DEATHS] else replay.details
    tries = [] if least is None else [(least.work, least.details, least.reason, '["smallest"]["work"]')]
    tries += [] if replay.work is None else [(replay.work, details, replay.reason, '["work"]')]
    for work, found, reason, part in tries:
        judge = None if found.get("launch") else _JUDGES.get(str(found.get("kind")))  # a later one takes the first, too
        for source in (None, (path, part)) if judge is not None and work.values is not None else ():
            try:
                lines = [*_head(replay, reason, device, work, source), *_body(work, found, source)]
            except (KeyError, ValueError):  # the file says too little of the failure
                continue
            if len(lines) <= MOST_LINES and all(len(line) <= MOST_COLUMNS for line in lines):
                return "\n".join(lines) + "\n"
    return "\n".join(_by_the_suite(replay, device)) + "\n"


def _title(replay: Replay, reason: str) -> str:
    text = f"{replay.case} on {replay.device['name']}: {replay.status}: {reason}"
    plain = text.replace("\\", "/").replace('"', "'").encode("ascii", "replace").decode()
    return f'"""{textwrap.shorten(plain, MOST_COLUMNS - 7, placeholder=" ...")}"""'


def _head(replay: Replay, reason: str, device: str, work: Work, source: tuple[Path, str] | None) -> Iterator[str]:
    yield _title(replay, reason)
    yield "import ep, sys" if source is None else "import base64, ep, json, sys, zlib"
    if source is None and any("ml_dtypes" in _literal(array) for array in _arrays(work).values()):
        yield "import ml_dtypes"
    yield "import numpy as np"
    name, module = type(work.descriptor).__name__, work.construction.module
    yield f"from {module} import {name}"
    yield "from ep_primitives.judging import layout"
    yield f"device = ep.device(sys.argv[1] if sys.argv[1:] else {device!r})"
    yield "stream = device.stream()"


def _body(work: Work, details: Mapping[str, Any], source: tuple[Path, str] | None) -> Iterator[str]:
    descriptor, arrays = work.descriptor, _arrays(work)
    yield from _wrapped(f"work = {_call(work.construction)}")
    yield "specs = work.present"
    moved = {**work.starts, **{name: work.starts.get(output, 0) for name, output in _shared(work).items()}}
    starts = "".join(f", {name!r}: edge + {work.shift + start}" for name, start in moved.items() if start)
    usual = f"dict.fromkeys(specs, {_EDGE}{f' + {work.shift}' if work.shift else ''})"
    yield from _wrapped(f"start = {usual}{f' | {{{starts[2:]}}}' if starts else ''}")
    if source is None:
        yield from _wrapped(f"held = {{{', '.join(f'{name!r}: {_literal(array)}' for name, array in arrays.items())}}}")
    else:
        yield from _reading(*source)
    names = "[*held]" if source is None or arrays.keys() == (work.values or {}).keys() else str([*arrays])
    fresh = [name for name in descriptor.outputs if name not in arrays and name not in _shared(work).values()]
    every = ", ".join([names[:-1], *map(repr, fresh)]).replace("[, ", "[") + "]"
    # What no operand holds is NaN, or -1, where it is read by mistake, and something else where it is written.
    blank = "np.full(start[name] + edge + specs[name].nbytes, 0x5B if name in work.outputs else 0xFF, np.uint8)"
    yield from _wrapped(f"images = {{name: {blank} for name in {every}}}")
    yield f"for name in {names}:"
    operands = descriptor.present
    is_dense = all(
        isinstance(spec := operands[name], ep.TensorSpec) and spec.is_dense and not spec.lo for name in arrays
    )
    if source is None:
        yield "    layout.scatter(specs[name], held[name], images[name], start[name])"
    elif is_dense:
        raw = 'zlib.decompress(base64.b64decode(held[name]["bytes"]))'
        yield f"    images[name][start[name]:-edge] = np.frombuffer({raw}, np.uint8)"
    else:
        yield '    raw = zlib.decompress(base64.b64decode(held[name]["bytes"]))'
        yield "    value = layout.view(ep.TensorSpec(specs[name].dtype, specs[name].shape), raw)"
        yield "    layout.scatter(specs[name], value, images[name], start[name])"
    yield from _launching(work, details)
    yield from _JUDGES[details["kind"]](work, details)


def _reading(path: Path, part: str) -> Iterator[str]:
    """Yield the lines that read the operands, with the file's path, or only its name if the path is too long."""
    lines = [f"file = sys.argv[2] if sys.argv[2:] else {str(each)!r}" for each in (path, path.name)]
    yield min(lines, key=lambda line: len(line) > MOST_COLUMNS)
    yield f'held = json.load(open(file)){part}["values"]'


def _launching(work: Work, details: Mapping[str, Any]) -> Iterator[str]:
    """Yield the launch over memories between known bytes, and the download of the watched operand into `back`."""
    descriptor, values = work.descriptor, work.values or {}
    watched = str(details.get("operand", next(iter(descriptor.outputs))))
    watched = next((name for name, output in _shared(work).items() if watched == output), watched)
    specs = descriptor.present.items()
    numbers = [
        f", {name}={_number(values[name])}" for name, spec in specs if isinstance(spec, ep.Scalar) and name in values
    ]
    views = "{name: whole[start[name] : whole.nbytes - edge] for name, whole in wholes.items()}"
    shared = "".join([f', {output}=views["{name}"]' for name, output in _shared(work).items()])
    lines = [
        "wholes = {name: device.allocate(image.nbytes) for name, image in images.items()}",
        "for name in wholes: stream.upload(wholes[name], images[name])",
        *([f"views = {views}"] if shared else []),
        *_wrapped(f"work.on(device)(stream, **{'views' if shared else views}{shared}{''.join(numbers)})"),
        f'back = images["{watched}"].copy()',
        f'stream.download(back, wholes["{watched}"])',
        "stream.synchronize()",
    ]
    if details["kind"] != "again":
        yield from lines
        return
    yield "def launch():"
    yield from (f"    {line}" for line in lines)
    yield f'    return layout.gather(specs["{details["operand"]}"], back, start["{details["operand"]}"])'


def _judge_element(work: Work, details: Mapping[str, Any]) -> Iterator[str]:
    at, name = tuple(details["index"]), details["operand"]
    out = work.descriptor.outputs[name]
    value = details.get("value")
    as_byte = ".view(np.uint8)" if out.dtype == "bool" else ""
    yield f'given = layout.gather(specs["{name}"], back, start["{name}"]){as_byte}[{at}]'
    yield f'needed = np.frombuffer(bytes.fromhex("{details["bits"]}"), given.dtype)[0]'
    shown = ".tobytes().hex()" if details["given"] == details["needed"] else ""
    yield f'print(f"{name}{list(at)} is {{given{shown}}}, needed {{needed{shown}}}, on {{device.name}}")'
    if value is None:  # moved, of which every bit counts
        yield "sys.exit(given.tobytes() != needed.tobytes())"
    elif not details["allowed"] or not _is_finite(value):
        yield f"sys.exit(not (given.tobytes() == needed.tobytes() or {_NAN}))"
    else:
        kind = "complex" if ep.dtype(out.dtype).kind == "c" else "float"
        yield from _wrapped(
            f"sys.exit(not (given == needed or abs({kind}(given) - {value}) <= {details['allowed']!r}))"
        )


def _judge_byte(work: Work, details: Mapping[str, Any]) -> Iterator[str]:
    del work
    place = f'start["{details["operand"]}"] {"+" if details["byte"] >= 0 else "-"} {abs(details["byte"])}'
    yield f'given, needed = back[{place}], images["{details["operand"]}"][{place}]'
    yield f'print(f"byte {details["byte"]} of {details["operand"]} is {{given:#04x}}, needed {{needed:#04x}}, on {{device.name}}")'
    yield "sys.exit(given != needed)"


def _judge_again(work: Work, details: Mapping[str, Any]) -> Iterator[str]:
    del work, details
    yield "first = launch().tobytes()"
    yield "same = sum(launch().tobytes() == first for _ in range(100))"
    yield 'print(f"{same} of 100 launches gave the bits of the first, on {device.name}")'
    yield "sys.exit(same < 100)"


def _judge_updated(work: Work, details: Mapping[str, Any]) -> Iterator[str]:
    del work
    yield f'given = layout.gather(specs["{details["operand"]}"], back, start["{details["operand"]}"])'
    yield f'needed = np.frombuffer(bytes.fromhex("{details["bits"]}"), given.dtype)'
    yield f'print(f"{details["operand"]} is {{given}}, needed {{needed}}, on {{device.name}}")'
    yield "sys.exit(given.tobytes() != needed.tobytes())"


def _judge_bool(work: Work, details: Mapping[str, Any]) -> Iterator[str]:
    del work
    at, name = tuple(details["index"]), details["operand"]
    yield f'given = layout.gather(specs["{name}"], back, start["{name}"]).view(np.uint8)[{at}]'
    yield f'print(f"{name}{list(at)} holds the byte {{given}}, needed 0 or 1, on {{device.name}}")'
    yield "sys.exit(given > 1)"


def _judge_raised(work: Work, details: Mapping[str, Any]) -> Iterator[str]:
    del work, details
    yield 'print(f"no error on {device.name}")'


_JUDGES: Final = {
    "element": _judge_element,
    "byte": _judge_byte,
    "again": _judge_again,
    "updated": _judge_updated,
    "bool": _judge_bool,
    "raised": _judge_raised,
}
"""The writers of judgements by kind of failure; other kinds need more than a few lines."""


def _arrays(work: Work) -> dict[str, Array]:
    return {name: value for name, value in (work.values or {}).items() if isinstance(value, np.ndarray)}


def _shared(work: Work) -> dict[str, str]:
    """Return the output that lies in an input's memory, by the name of that input; nothing if each has its own."""
    return {} if work.inplace is None else {work.inplace: work.target}


def _call(construction: Construction) -> str:
    """Return the call that makes the descriptor; equal terms of a sum are written once."""
    terms = construction.positional
    if len(terms) < 3 or len(set(terms)) > 1 or construction.keywords.keys() != {"out"}:  # noqa: PLR2004 - two are short
        return str(construction)
    named = ", ".join(f"{key}=ep.{value!r}" for key, value in construction.keywords.items())
    return f"{type(construction.build()).__name__}(*[ep.{terms[0]!r}] * {len(terms)}, {named})"


def _literal(array: Array) -> str:
    """Return an array as an expression that gives its very bytes."""
    flat, name = np.ascontiguousarray(array).reshape(-1), array.dtype.name
    dtype = f'"{name}"' if array.dtype.char in f"{''.join(_PLAIN)}?eFD" else f"ml_dtypes.{name}"
    shape = f".reshape({array.shape})" if array.ndim != 1 else ""
    if array.dtype.char in _PLAIN and bool(np.isfinite(flat).all()):
        return f"np.array([{', '.join(str(each) for each in flat)}], {dtype}){shape}"
    return f'np.frombuffer(bytes.fromhex("{flat.tobytes().hex()}"), {dtype}){shape}'


def _number(value: Any) -> str:
    item = value.item() if isinstance(value, np.generic) else value
    if isinstance(item, float) and not math.isfinite(item):
        return f'float("{item}")'
    if isinstance(item, complex):
        return f"complex({_number(item.real)}, {_number(item.imag)})"
    return repr(item)


def _parsed(value: str) -> float | complex:
    number = complex(value)
    return number.real if "j" not in value else number


def _is_finite(value: str) -> bool:
    number = complex(value)
    return math.isfinite(number.real) and math.isfinite(number.imag)


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, MOST_COLUMNS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _by_the_suite(replay: Replay, device: str) -> Iterator[str]:
    """Yield a script that runs the case itself: of work that is too large, of the runtime, or of several launches."""
    yield _title(replay, replay.reason)
    yield "# It needs ep_conformance: these steps are the suite's own, see `ep-conformance explain` of the case."
    yield "import sys"
    yield "import ep"
    yield "from ep_conformance.plan.catalogue import find"
    try:
        found = find(replay.case)
    except KeyError:
        found = None
    is_of_cell = replay.case.startswith("primitives/") if found is None else isinstance(found, CellCase)
    if is_of_cell:
        module = "run.steps.path import run_case"
        if isinstance(found, CellCase) and isinstance(found.case, Sweep):
            module = "run.steps.sweep import run_sweep as run_case"
        yield f"from ep_conformance.{module}"
    yield "from ep_conformance import Trial"
    yield ""
    yield f"device = ep.device(sys.argv[1] if sys.argv[1:] else {device!r})"
    other = f", other=ep.device({replay.bits_of!r})" if replay.bits_of else ""
    yield from _wrapped(
        f'trial = Trial(device, {replay.case!r}, seed={replay.seed}, profile="{replay.profile}"{other})'
    )
    yield "found = find(trial.id, trial.seed)"
    if is_of_cell:
        yield "outcome = run_case(trial, found.family, found.case)"
        yield 'print(outcome.status, outcome.reason or f"on {device.name}")'
        yield 'sys.exit(outcome.status != "pass")'
        return
    yield "found.body(trial)  # raises what is wrong"
    yield "trial.close()"
    yield 'print(f"pass on {device.name}")'
