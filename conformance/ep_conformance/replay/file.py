"""A replay file: one failing case, small enough to mail, which runs again on any machine, device and provider."""

from __future__ import annotations

import json
import math
import re
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_primitives.cases.case import Case
from ep_primitives.judging.accuracy import REPRESENTABLE, Exact
from ep_primitives.situations.manner import Manner, manner_read

import ep
from ep_conformance import SUITE
from ep_conformance.judge.construction import Construction, construction_of, construction_read
from ep_conformance.plan.profiles import PROFILES
from ep_conformance.replay.values import digest, values_json, values_read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = [
    "Replay",
    "ReplayError",
    "Smallest",
    "Work",
    "file_name",
    "gathered_json",
    "read_replay",
    "replay_of",
    "write_replay",
]

_KIND: Final = "ep-conformance replay"
_SCHEMA: Final = 1
_MOST_BYTES: Final = 16 << 20
"""Of a file: EP writes far smaller ones."""

_MOST_OPERANDS: Final = 1 << 30
"""Bytes of all operands of stored work."""

_MOST_RAW: Final = 4 << 20
"""Bytes of operands that are worth an attempt to fit them into a small file."""

_MOST_SHIFT: Final = 1 << 12
_HEX: Final = re.compile(r"([0-9a-f]{2})*")
_DETAILS: Final[Mapping[str, Callable[[Any], object]]] = {
    "kind": lambda value: isinstance(value, str),
    "operand": lambda value: isinstance(value, str) and value.isidentifier(),
    "index": lambda value: isinstance(value, list) and all(type(each) is int for each in value),
    "byte": lambda value: type(value) is int,
    "launch": lambda value: type(value) is int,
    "bits": lambda value: isinstance(value, str) and _HEX.fullmatch(value),
    "value": lambda value: isinstance(value, str) and (value in {"True", "False"} or repr(complex(value))),
    "allowed": lambda value: type(value) in {int, float} and math.isfinite(value),
    "given": lambda value: isinstance(value, str),
    "needed": lambda value: isinstance(value, str),
}

_NAME: Final = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST: Final = 200
"""Characters of a file's name: file systems take 255 bytes, and a checksum, an ending and those of a temporary file come behind them."""


class ReplayError(Exception):
    """A replay file cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Work:
    """What a case of a cell computes, by itself: it needs nothing of the suite but the family.

    inplace   : the input whose memory the output has, None if it has its own
    shift     : bytes that each memory view starts after an aligned place
    starts    : bytes more of single operands
    manner    : of the other launch, as in `Case`
    is_exact  : the case demands the exact result, whatever the family's accuracy
    values    : of the operands, None if they are too large to be kept: then the suite draws them again
    drawn     : digest of the operands that the suite drew for it
    """

    construction: Construction
    inplace: str | None
    shift: int
    is_exact: bool
    values: Mapping[str, Any] | None
    drawn: str
    starts: Mapping[str, int] = field(default_factory=dict)
    manner: Manner | None = None

    @classmethod
    def of(cls, case: Case, values: Mapping[str, Any]) -> Work | None:
        """Return the work of a case with its values, None if its descriptor cannot be written down."""
        construction = construction_of(case.descriptor)
        if construction is None:
            return None
        is_small = sum(np.asarray(value).nbytes for value in values.values()) <= _MOST_RAW
        is_exact = isinstance(case.accuracy, Exact)
        kept = values if is_small else None
        placed = case.starts, case.manner
        return cls(construction, case.inplace, case.shift, is_exact, kept, digest(values), *placed)

    @property
    def descriptor(self) -> ep.Descriptor:
        """What is computed."""
        return self.construction.build()

    @property
    def target(self) -> str:
        """The output that uses the memory of `inplace`: see `ep_primitives.Case`."""
        roles = self.descriptor.roles
        return roles[roles.names.index(str(self.inplace))].shares[0]

    def case(self, name: str) -> Case:
        """Return it as a case whose data are the stored values. Raises ValueError if there are none."""
        values = self.values
        if values is None:
            message = "the operands are not in the file, because they are too large"
            raise ValueError(message)
        accuracy = REPRESENTABLE if self.is_exact else None
        return Case(
            name,
            self.descriptor,
            lambda _rng: values,
            inplace=self.inplace,
            shift=self.shift,
            accuracy=accuracy,
            starts=self.starts,
            manner=self.manner,
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON; `_work` reads it."""
        return {
            "descriptor": self.construction.as_json(),
            "in_place": self.inplace,
            "shift": self.shift,
            "starts": dict(self.starts),
            "manner": None if self.manner is None else [*self.manner],
            "is_exact": self.is_exact,
            "values": None if self.values is None else values_json(self.values),
            "drawn": self.drawn,
        }


@dataclass(frozen=True)
class Smallest:
    """Less work that fails in the same way, with its reason."""

    work: Work
    reason: str
    details: Mapping[str, Any]


@dataclass(frozen=True)
class Replay:
    """A failing case of a run.

    case         : its id; with seed and profile it decides all data, as long as the suite draws it as it did
    provider     : name and version of the one that failed
    device       : its info, the name of it included
    environment  : versions, platform and variables of the run
    details      : facts about the failure beside its reason: place, given and needed value
    work         : the computation, of a case of a cell
    smallest     : less work that fails as well, None if none was found
    program      : of a generated program, its text
    bits_of      : name of the device whose bits the results did not have; "" for any other failure
    """

    case: str
    seed: int
    profile: str
    status: str
    reason: str
    provider: Mapping[str, Any]
    device: Mapping[str, Any]
    environment: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict)
    work: Work | None = None
    smallest: Smallest | None = None
    program: str = ""
    bits_of: str = ""
    suite: str = SUITE

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON; `replay_of` gives it back."""
        return {
            "kind": _KIND,
            "schema": _SCHEMA,
            "suite": self.suite,
            "case": self.case,
            "seed": self.seed,
            "profile": self.profile,
            "verdict": {"status": self.status, "reason": self.reason, **self.details},
            "provider": dict(self.provider),
            "device": dict(self.device),
            "environment": dict(self.environment),
            "program": self.program,
            "bits_of": self.bits_of,
            **gathered_json(self.work, self.smallest),
        }


def gathered_json(work: Work | None, smallest: Smallest | None) -> dict[str, Any]:
    """Return the work of a failing case as the entries `work` and `smallest` of a replay's JSON."""
    least = (
        None if smallest is None else {"reason": smallest.reason, **smallest.details, "work": smallest.work.as_json()}
    )
    return {"work": None if work is None else work.as_json(), "smallest": least}


def write_replay(path: Path, table: Mapping[str, Any]) -> None:
    """Write a replay's JSON into its file."""
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def file_name(identity: str) -> str:
    """Return the name of the replay file of a case: its id, without characters and lengths that file systems refuse."""
    plain = identity.replace("/", ".")
    safe = _NAME.sub("_", plain)[:_LONGEST]
    return f"{safe}.json" if safe == plain else f"{safe}-{zlib.crc32(identity.encode()):08x}.json"


def read_replay(path: Path) -> Replay:
    """Return the replay in a file. Raises ReplayError for one that cannot be used; nothing in it is executed."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            message = f"{path} has {path.stat().st_size} bytes, which no replay file has"
            raise ReplayError(message)
        table = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ReplayError(message) from None
    except (ValueError, RecursionError) as error:
        message = f"{path} is no replay file: it is not JSON ({error})"
        raise ReplayError(message) from None
    if not isinstance(table, dict) or table.get("kind") != _KIND:
        message = f"{path} is no replay file: its kind is not {_KIND!r}; ep-conformance run --json writes them"
        raise ReplayError(message)
    if table.get("schema") != _SCHEMA:
        message = (
            f"{path} is of schema {table.get('schema')!r}, this suite reads {_SCHEMA}; use the release that wrote it"
        )
        raise ReplayError(message)
    try:
        return replay_of(table)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        message = f"{path} is damaged: {type(error).__name__}: {error}"
        raise ReplayError(message) from None


def replay_of(table: Mapping[str, Any]) -> Replay:
    """Return the replay of a JSON object. Raises what reading it raises, for one that `Replay.as_json` did not make."""
    verdict = dict(table["verdict"])
    replay = Replay(
        case=_is(str, table["case"]),
        seed=_is(int, table["seed"]),
        profile=_is(str, table["profile"]),
        status=_is(str, verdict.pop("status")),
        reason=_is(str, verdict.pop("reason")),
        details=_details(verdict),
        provider=_is(dict, table["provider"]),
        device=_is(dict, table["device"]),
        environment=_is(dict, table["environment"]),
        program=_is(str, table["program"]),
        bits_of=_is(str, table.get("bits_of", "")),
        suite=_is(str, table["suite"]),
        work=None if table["work"] is None else _work(table["work"]),
        smallest=None if table["smallest"] is None else _smallest(dict(table["smallest"])),
    )
    if replay.profile not in PROFILES or replay.seed < 0:
        message = f"profile {replay.profile!r} or seed {replay.seed} is not valid"
        raise ValueError(message)
    _is(str, replay.provider["name"])
    _is(str, replay.device["name"])
    return replay


def _smallest(table: dict[str, Any]) -> Smallest:
    return Smallest(_work(table.pop("work")), _is(str, table.pop("reason")), _details(table))


def _details(table: dict[str, Any]) -> dict[str, Any]:
    """Return the details of a failure after checking each one's type, because scripts are written from them."""
    for name, is_right in _DETAILS.items():
        if name in table and not is_right(table[name]):
            message = f"{name} is {str(table[name])[:80]!r}"
            raise ValueError(message)
    return table


def _work(table: Mapping[str, Any]) -> Work:
    values = table["values"]
    inplace = table["in_place"]
    work = Work(
        construction_read(table["descriptor"]),
        None if inplace is None else _is(str, inplace),
        _is(int, table["shift"]),
        _is(bool, table["is_exact"]),
        None if values is None else values_read(values),
        _is(str, table["drawn"]),
        {_is(str, name): _is(int, start) for name, start in _is(dict, table.get("starts", {})).items()},
        None if (manner := table.get("manner")) is None else manner_read(_is(list, manner)),
    )
    _check(work)
    return work


def _check(work: Work) -> None:
    """Raise ValueError for work that no case of the suite could be, so that only valid work reaches a device."""
    descriptor = work.descriptor
    tensors = {name: spec for name, spec in descriptor.present.items() if isinstance(spec, ep.TensorSpec)}
    nbytes = sum(spec.nbytes for spec in tensors.values())
    if nbytes > _MOST_OPERANDS and work.values is not None:
        message = f"its operands have {nbytes} bytes, at most {_MOST_OPERANDS} are replayed from a file"
        raise ValueError(message)
    if not all(0 <= start <= _MOST_SHIFT for start in work.starts.values()) or work.starts.keys() - tensors.keys():
        message = f"starts {work.starts} is not valid for {descriptor.family}"
        raise ValueError(message)
    may_share = {role.name for role, spec in descriptor.tensors if role.shares and spec is not None}
    if not 0 <= work.shift <= _MOST_SHIFT or work.inplace not in {None, *may_share}:
        message = f"shift {work.shift} or in_place {work.inplace!r} is not valid for {descriptor.family}"
        raise ValueError(message)
    values = work.values or {}
    there = descriptor.present.keys()
    needed = there & set(descriptor.roles.read)
    if values.keys() - there:
        message = f"{descriptor.family} has no operand {min(values.keys() - there)!r}"
        raise ValueError(message)
    for name in descriptor.operands if work.values is not None else ():
        if name not in values and name not in needed:
            continue
        given, spec = values[name], tensors.get(name)
        is_array = isinstance(given, np.ndarray)
        if is_array != (spec is not None) or (
            spec is not None and (given.shape, given.dtype.name) != (spec.shape, spec.dtype)
        ):
            message = f"the value of {name} does not fit {spec!r}"
            raise ValueError(message)


def _is(kind: type, value: Any) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        message = f"{str(value)[:80]!r} is no {kind.__name__}"
        raise TypeError(message)
    return value
