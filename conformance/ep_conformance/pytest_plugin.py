"""The pytest plugin: `pytest --ep-provider acme` runs the suite's cases as tests, and gives tests of one's own a device.

pytest loads this in every run of an environment that has EP: it imports nothing of EP until it is asked.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    import ep
    from ep_conformance.fixture.trial import Trial

_PROFILES: Final = ("quick", "standard", "large", "exhaustive")
_MARKER: Final = "ep_conformance: a case of EP's conformance suite, by --ep-provider"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which begin with --ep."""
    group = parser.getgroup("ep-conformance", "conformance of EP providers")
    group.addoption(
        "--ep-provider", metavar="NAME", help="run EP's conformance suite on this provider, one test a case"
    )
    group.addoption("--ep-device", metavar="N", type=_count, default=0, help="which of its devices (0)")
    group.addoption("--ep-profile", choices=_PROFILES, default="quick", help="how much data (quick)")
    group.addoption(
        "--ep-filter",
        metavar="GLOB",
        help="only cases whose id matches this glob, or one of several with spaces between them; * crosses slashes",
    )
    group.addoption("--ep-seed", metavar="N", type=_count, default=0, help="of all random data (0)")
    group.addoption(
        "--ep-jobs", metavar="N", type=_count, help="worker processes; default one a device, one a core on a CPU"
    )


def _count(text: str) -> int:
    """Return a whole number from 0 on. Raises ArgumentTypeError for any other text."""
    if not text.isdecimal():
        message = f"{text!r} is no whole number from 0 on"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; refuse processes of pytest-xdist, which would share the device without knowing of it."""
    config.addinivalue_line("markers", _MARKER)
    is_split = config.getoption("numprocesses", None) or hasattr(config, "workerinput")
    if is_split and _is_wanted(config):
        message = (
            "--ep-provider: its cases have worker processes of their own (--ep-jobs); leave out -n of pytest-xdist"
        )
        raise pytest.UsageError(message)


def _is_wanted(config: pytest.Config) -> bool:
    """Say whether the suite's cases are to run: not if the command line names paths."""
    names_paths = config.args_source is pytest.Config.ArgsSource.ARGS
    return bool(config.getoption("ep_provider")) and (not names_paths or config.getoption("ep_filter") is not None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Put the suite's cases after the other tests, before tests are deselected."""
    if _is_wanted(session.config):
        from ep_conformance.pytest_suite import Suite  # noqa: PLC0415 - runs without --ep-provider should not load EP

        suite = Suite.from_parent(session, name="ep-conformance", nodeid="ep-conformance")
        items += suite.collect()
        session.config.stash[_SUITE] = suite


_SUITE: Final = pytest.StashKey[Any]()


def pytest_report_collectionfinish(config: pytest.Config) -> str | None:
    """Say which device is judged, and what is left out."""
    suite = config.stash.get(_SUITE, None)
    return None if suite is None else suite.heading


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give a case's report the time that the case itself took, in its worker."""
    report = yield
    seconds = getattr(item, "ep_seconds", None)
    if seconds is not None and report.when == "call":
        report.duration = seconds
    return report


@pytest.fixture(scope="session")
def ep_device(request: pytest.FixtureRequest) -> ep.Device:
    """Return the device of --ep-provider and --ep-device, in this process; a test without --ep-provider is skipped."""
    provider = request.config.getoption("ep_provider")
    if provider is None:
        pytest.skip("needs --ep-provider NAME")
    import ep  # noqa: PLC0415 - as above

    try:
        return ep.device(f"{provider}:{request.config.getoption('ep_device')}")
    except (ep.UnavailableError, ValueError) as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def ep_trial(ep_device: ep.Device, request: pytest.FixtureRequest) -> Iterator[Trial]:
    """Return a Trial on the device: streams and memories that end with the test, seeded data, checks that explain themselves."""
    from ep_conformance.fixture.trial import Trial  # noqa: PLC0415 - as above

    option = request.config.getoption
    trial = Trial(ep_device, request.node.nodeid, option("ep_seed"), option("ep_profile"))
    yield trial
    trial.close()
