"""Draw programs from a seed, perform each, and shrink the first that fails to a few lines."""

from __future__ import annotations

import contextlib
import time
import zlib
from typing import TYPE_CHECKING, Final

import hypothesis
from hypothesis import strategies as st

import ep
from ep_conformance.judge.error import CaseError
from ep_conformance.programs.blame import blame
from ep_conformance.programs.look import MismatchError
from ep_conformance.programs.program import Intent, Mix, Program
from ep_conformance.programs.stage import Bench, Stage
from ep_conformance.programs.verbs import NEEDS_KERNELS, NOTHING, build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_conformance.fixture.trial import Trial

__all__ = ["SHRINK_SECONDS", "try_programs"]

_PROGRAMS: Final = {"quick": 20, "standard": 100, "large": 1000, "exhaustive": 5000}
SHRINK_SECONDS: Final = {"quick": 2.0, "standard": 10.0, "large": 30.0, "exhaustive": 60.0}
"""How long a failing program is made shorter."""
_TRIES: Final = 3
"""How often a candidate may fail while a failing program is shrunk: a race is not lost every time."""

_LARGEST: Final = (1 << 16) - 1
_MOST_LINES: Final = 40


def try_programs(trial: Trial, mix: Mix, devices: Sequence[ep.Device] = ()) -> None:
    """Fail the case with the shortest program found whose bytes differ from the sequential model.

    devices : the devices of the programs, in place of the trial's device alone
    """
    bench = Bench(devices or (trial.device,), mix.unit)
    search = _Search(trial, bench)
    settings = hypothesis.settings(
        max_examples=_PROGRAMS[trial.profile],
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    )
    test = settings(hypothesis.given(_programs(mix, bench))(search.attempt))
    with contextlib.closing(bench):
        try:
            hypothesis.seed(zlib.crc32(f"{trial.seed} {trial.id}".encode()))(test)()
        except (CaseError, ep.EpError, hypothesis.errors.HypothesisException):
            if search.failure is None:
                raise
        failure = search.conclusion()
    if failure is not None:
        raise failure


def _programs(mix: Mix, bench: Bench) -> st.SearchStrategy[Program]:
    verbs = [verb for verb in mix.verbs if bench.kernel is not None or verb not in NEEDS_KERNELS]
    number = st.integers(0, _LARGEST)
    # All drawn programs have one length: each intent may shrink to nothing, which makes a program shorter.
    intent = st.builds(Intent, st.sampled_from([NOTHING, *verbs]), st.integers(0, 3), number, number, number)
    intents = st.lists(intent, min_size=mix.length, max_size=mix.length)
    modes = st.lists(st.sampled_from(bench.modes), min_size=2, max_size=4)
    return st.builds(lambda modes, intents: build(mix, len(bench.devices), modes, intents), modes, intents)


class _Search:
    """The search of one case, and the shortest failing program so far."""

    def __init__(self, trial: Trial, bench: Bench) -> None:
        self._trial = trial
        self._bench = bench
        self._deadline = 0.0
        self._program: Program | None = None
        self.failure: Exception | None = None

    def attempt(self, program: Program) -> None:
        """Perform a program; once the time for shrinking is over, none fails any more."""
        if self.failure is not None and time.monotonic() > self._deadline:
            return
        try:
            self._perform(program)
        except ep.DeviceLostError as error:
            self.failure, self._deadline = error, 0.0
            raise
        except (CaseError, ep.EpError, ValueError) as error:
            self._keep(program, error)
            raise

    def _perform(self, program: Program) -> None:
        for _ in range(1 if self.failure is None else _TRIES):
            self._perform_once(program)

    def _perform_once(self, program: Program) -> None:
        stage = Stage(self._bench, program)
        try:
            stage.perform()
        except BaseException:
            stage.close_quietly()
            raise
        stage.close()

    def _keep(self, program: Program, error: Exception) -> None:
        if self._program is None:
            self._deadline = time.monotonic() + SHRINK_SECONDS[self._trial.profile]
        elif len([*program.lines()]) >= len([*self._program.lines()]):
            return
        self._program, self.failure = program, error

    def conclusion(self) -> Exception | None:
        """Return the error of the shortest program that failed, None if none did."""
        if self._program is None or isinstance(self.failure, ep.DeviceLostError):
            return self.failure
        error, lines = self.failure, [*self._program.lines()]
        shown = (
            lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], f"... and {len(lines) - _MOST_LINES} more"]
        )
        what = str(error) if isinstance(error, CaseError) else f"{type(error).__name__}: {error}"
        if isinstance(error, MismatchError) and (why := self._blame(self._program, error)):
            what = f"{what}: {why};"
        code = "\n".join(f"  {line}" for line in shown)
        return CaseError(f"{what} on {self._trial.device.name}, seed {self._trial.seed}, behind\n{code}")

    def _blame(self, program: Program, error: MismatchError) -> str:
        try:
            return blame(program, error, self._bench.result)
        except ep.EpError:  # the device fails to run the kernel on other bytes, so that no order can be blamed
            return ""
