"""The process that runs cases: it opens the device, answers one message at a time, and may die without harm."""

from __future__ import annotations

import faulthandler
import functools
import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep.plugin.claims import ClaimsError

import ep
from ep_conformance.fixture.trial import Trial
from ep_conformance.garbage import collect_seldom
from ep_conformance.judge.agreement import BITS_OF, DIFFERENT
from ep_conformance.judge.attestation import UNATTESTED
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.floats import changed_environment
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.catalogue import CellCase, find
from ep_conformance.plan.survey import survey
from ep_conformance.plan.sweep import Sweep
from ep_conformance.plan.waivers import WaiversError
from ep_conformance.replay.evidence import gather, perform
from ep_conformance.replay.file import gathered_json, replay_of
from ep_conformance.run.channel import Channel, set_apart
from ep_conformance.run.interrupts import ENDINGS
from ep_conformance.run.memory import PeakMemory, be_killed_first, give_back
from ep_conformance.run.orphan import end_with_parent
from ep_conformance.run.record import outcome_record
from ep_conformance.run.steps.need import LARGE, lack_of_memory, lack_on_device, needed_memory
from ep_conformance.run.steps.path import run_case
from ep_conformance.run.steps.sweep import run_sweep

if TYPE_CHECKING:
    import socket

    from ep_conformance.runtime import RuntimeCase

__all__ = ["Job", "serve"]

_TRACE_LINES: Final = 3
_MOST_SAID: Final = 2000
"""Characters of an error that are kept: a compiler's log may have a million."""


@dataclass(frozen=True)
class Job:
    """What every worker of a run is told.

    device   : name, such as "cpu:0"
    threads  : EP_CPU_THREADS of the worker, None to leave it
    log      : file for the output of the worker and of the vendor's libraries
    waivers  : file in place of the provider's own waivers.toml
    bits_of  : name of the device whose bits results are compared with, "" to compare with none
    every    : of each op only every Nth element type
    """

    device: str
    profile: str
    pattern: str | None
    seed: int
    threads: int | None
    log: Path
    waivers: Path | None = None
    bits_of: str = ""
    every: int = 1

    def trial(self, device: ep.Device, identity: str) -> Trial:
        """Return a new trial of a case."""
        other = ep.device(self.bits_of) if self.bits_of else None
        return Trial(device, identity, self.seed, self.profile, other)


def serve(end: socket.socket, job: Job) -> None:
    """Answer messages until the connection ends.

    Receives ["survey"], ["probe"] or ["run", ids, bytes of memory or null]. Sends ["survey", Survey], ["probed", ""], ["start", id],
    ["done", id, Outcome, bytes of memory at most], and ["unavailable", reason] if the device cannot be opened. For
    replay files it receives ["gather", id, runs] and ["replay", Replay], and sends ["gathered", {work, smallest}] and
    ["replayed", Outcome, note]. All of it is JSON: bytes that a provider writes into the pipe are never executed.
    """
    channel = Channel(set_apart(end))
    _keep_from_tracker()
    end_with_parent()
    be_killed_first()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # they are the parent's, which ends us
    _print_to(job.log)
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(job.log.with_name("hypothesis")))  # not where we stand
    if job.threads is not None:
        os.environ["EP_CPU_THREADS"] = str(job.threads)
    try:
        device = ep.device(job.device)
        if job.bits_of:
            ep.device(job.bits_of)
    except Exception as error:  # noqa: BLE001 - the worker boundary: a provider may raise anything
        traceback.print_exc()
        channel.send(["unavailable", (str(error) or type(error).__name__)[:_MOST_SAID]])
        return
    collect_seldom()
    bench = _Bench(channel, device, job)
    while (message := channel.receive()) is not None and bench.answer(message):
        pass


class _Bench:
    """A device with the messages about it."""

    def __init__(self, channel: Channel, device: ep.Device, job: Job) -> None:
        self._channel = channel
        self._device = device
        self._job = job
        self._peak = PeakMemory()
        self._trouble = ""

    def answer(self, message: list[Any]) -> bool:
        """Answer one message; False if this process should end, because its device is lost."""
        match message:
            case ["survey"]:
                self._channel.send([*self._survey()])
            case ["probe"]:
                self._trouble = probe(self._device)
                self._channel.send(["probed", self._trouble])
            case ["run", identities, limit]:
                for identity in identities:
                    self._channel.send(["start", identity])
                    outcome = self._fitting(identity, limit)
                    self._channel.send(["done", identity, _told(outcome), self._peak.read()])
                    if outcome.status is Status.DEVICE_LOST:
                        return False
            case ["gather", identity, runs]:
                run = functools.partial(execute, self._device, identity, self._job) if runs else None
                self._channel.send(["gathered", gathered_json(*gather(self._job.trial(self._device, identity), run))])
            case ["replay", table]:
                replay = replay_of(table)
                run = functools.partial(execute, self._device, replay.case, self._job)
                outcome, note = perform(self._job.trial(self._device, replay.case), replay, run)
                self._channel.send(["replayed", _told(outcome), note])
        return True

    def _survey(self) -> tuple[str, Any]:
        job = self._job
        try:
            other = job.trial(self._device, "survey").other
            found = survey(self._device, job.profile, job.pattern, job.waivers, every=job.every, other=other)
            return "survey", found.as_json()
        except (ClaimsError, WaiversError) as error:
            return "unavailable", str(error)
        except Exception as error:  # noqa: BLE001 - the worker boundary: `accepts` is a vendor's code
            traceback.print_exc()
            return "unavailable", f"{_summary(error)}, while it was surveyed"

    def _fitting(self, identity: str, limit: int | None) -> Outcome:
        """Return the outcome of a case, missing if there is no memory for it."""
        needed, lack = self._demand(identity)
        lack = lack or lack_of_memory(needed, limit)
        if lack:
            return Outcome(Status.MISSING, lack)
        outcome = self._execute(identity)
        if needed > LARGE:
            self._device.trim()
            give_back()
        return outcome

    def _demand(self, identity: str) -> tuple[int, str]:
        """Return how many bytes of this machine a case takes, and why the device cannot hold its operands, "" if it can."""
        on_host = bool({"cpu", "host-memory"} & self._device.info.features)
        try:
            found = find(identity, self._job.seed)
            if not isinstance(found, CellCase):
                return 0, ""
            needed = needed_memory(found, is_on_host=on_host, is_compared=bool(self._job.bits_of))
            return needed, lack_on_device(found, self._device)
        except Exception:  # noqa: BLE001 - the worker boundary: what is wrong with the case, running it says
            return 0, ""

    def _execute(self, identity: str) -> Outcome:
        """Return the outcome of a case. If it fails, and the device then moves no bytes, the device is lost."""
        outcome = execute(self._device, identity, self._job)
        if outcome.status is not Status.FAIL or self._trouble:  # nothing to lose: it never moved any
            return outcome
        trouble = probe(self._device)
        if not trouble:
            return outcome
        reason = f"left the device unusable: {trouble}; the case itself: {outcome.reason}"
        return replace(outcome, status=Status.DEVICE_LOST, reason=reason)


def _told(outcome: Outcome) -> dict[str, Any]:
    return outcome_record(outcome) | {"details": dict(outcome.details)}


def execute(device: ep.Device, identity: str, job: Job, found: CellCase | None = None) -> Outcome:
    """Return the outcome of one case on a device. Exceptions of the case or the provider become outcomes.

    found : a case to run in place of the suite's case of that id
    """
    degraded = device.degraded.copy()
    begin = time.perf_counter()
    try:
        outcome = _run(device, identity, job, found or find(identity, job.seed))
    except ep.DeviceLostError as error:
        outcome = Outcome(Status.DEVICE_LOST, str(error))
    except CaseError as error:
        bits = DIFFERENT if error.details.get("kind") == BITS_OF else ""
        outcome = Outcome(Status.FAIL, str(error), details=error.details, bits=bits)
    except ep.UnsupportedError as error:
        outcome = Outcome(Status.UNSUPPORTED, str(error), details={"kind": "raised"})
    except MemoryError as error:
        is_device = isinstance(error, ep.OutOfMemoryError)
        what = _summary(error) if is_device else f"this machine had no memory for it: {error}"
        outcome = Outcome(Status.FAIL if is_device else Status.MISSING, what, details={"kind": "raised"})
    except Exception as error:  # noqa: BLE001 - the worker boundary: a case costs one case
        outcome = Outcome(Status.FAIL, _summary(error), details={"kind": "raised"})
    used = sorted(device.degraded - degraded)
    reason = outcome.reason[:_MOST_SAID].encode(errors="replace").decode()
    seconds = round(time.perf_counter() - begin, 6)
    return replace(outcome, reason=reason, seconds=seconds, degraded=tuple(used))


def _run(device: ep.Device, identity: str, job: Job, found: CellCase | RuntimeCase) -> Outcome:
    """Return an outcome after checking that a pass counts: standard floating-point environment, and attestation."""
    changed = changed_environment()
    if changed:
        raise CaseError(changed)
    outcome = _shown(device, identity, job, found)
    changed = changed_environment()
    if changed:
        raise CaseError(changed)
    if outcome.status is Status.PASS and outcome.attested == "no":
        return replace(outcome, status=Status.FAIL, reason=f"{UNATTESTED} {device.name}")
    return outcome


def _shown(device: ep.Device, identity: str, job: Job, found: CellCase | RuntimeCase) -> Outcome:
    trial = job.trial(device, identity)
    before = device.native_calls
    try:
        if isinstance(found, CellCase):
            case = found.case
            run = run_sweep if isinstance(case, Sweep) else run_case
            outcome = run(trial, found.family, case)  # type: ignore[arg-type]  # the one that the line above chose
        else:
            found.body(trial)
            after = device.native_calls
            is_native = before is not None and after is not None and after > before
            outcome = Outcome(Status.PASS, attested="native" if is_native else "attested")
    except ep.DeviceLostError:
        raise
    except BaseException:
        _close_after_failure(trial)
        raise
    trial.close()
    return outcome


def _close_after_failure(trial: Trial) -> None:
    """End a failed trial; further errors are only symptoms of its failure."""
    try:
        trial.close()
    except ep.DeviceLostError:
        raise
    except Exception:  # noqa: BLE001 - a host function may have raised anything
        traceback.print_exc()


def probe(device: ep.Device) -> str:
    """Return "" if the device moves 64 bytes there and back, else the fault in words."""
    trial = Trial(device, "probe")
    try:
        stream = trial.stream()
        sent = trial.noise(64)
        back = trial.content(stream, trial.holding(stream, sent))
        trial.close()
    except Exception as error:  # noqa: BLE001 - the worker boundary
        return _summary(error)
    return "" if np.array_equal(sent, back) else "64 bytes uploaded came back different"


def _summary(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-_TRACE_LINES:]
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    return f"{type(error).__name__}: {str(error)[: _MOST_SAID // 2]} [{where}]"


def _keep_from_tracker() -> None:
    """Let nothing of this process reach the process that multiprocessing keeps for all of a run, which prints tracebacks of junk."""
    tracker = resource_tracker.getfd()
    if tracker is not None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, tracker, inheritable=False)
        os.close(nothing)


def _print_to(log: Path) -> None:
    """Send what this process and its libraries print, a crash's stack included, to a file."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    faulthandler.enable()
