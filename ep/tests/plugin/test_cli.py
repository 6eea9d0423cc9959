"""The command `ep`: what it prints, its exit codes, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_site import EMPTY, FAMILY, WORKING


def test_doctor_reports_bad_providers_and_fails_only_for_broken_ones(site):
    site.install("good", EMPTY)
    site.install("newer", EMPTY, spi="9.0")
    fine = site.ep("doctor", EP_PROVIDERS="good,newer")
    assert fine.returncode == 0, fine.stdout + fine.stderr
    assert "written for spi 9.0" in fine.stdout
    site.install("raising", "raise RuntimeError('no luck')")
    broken = site.ep("doctor", EP_PROVIDERS="good,newer,raising")
    assert broken.returncode == 1
    assert "RuntimeError: no luck" in broken.stdout
    assert "Traceback" not in broken.stdout + broken.stderr
    assert "Traceback" in site.ep("doctor", "--traceback", EP_PROVIDERS="good,raising").stdout


def test_commands_end_with_documented_codes_and_no_traceback(site):
    site.install("good", EMPTY)
    for arguments, code, text in (
        (["capabilities", "--provider", "nope"], 2, "unknown provider 'nope'; known are"),
        (["capabilities", "--provider", "good"], 3, "has no devices"),
        (["nonsense"], 2, "No such command"),
        (["devices"], 0, "no device found; ep doctor says why"),
    ):
        done = site.ep(*arguments, EP_PROVIDERS="good")
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
        assert text in done.stdout + done.stderr


ACCEPTS = """
from fam import Twice

class Odd(ep.Implementation):
    def accepts(self, descriptor, info): {answer}
    def create(self, descriptor, device, code): raise NotImplementedError

Provider.implementations = {{Twice: (Odd(),)}}
"""


@pytest.mark.parametrize(
    ("answer", "text"), [("return None", "Odd.accepts returned None"), ("raise RuntimeError('no luck')", "no luck")]
)
def test_accepts_that_is_wrong_ends_capabilities_in_one_line(site, answer, text):
    site.install_families("fam", FAMILY)
    site.install("odd", WORKING + ACCEPTS.format(answer=answer))
    done = site.ep("capabilities", "--provider", "odd")
    assert (done.returncode, done.stdout) == (1, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_capabilities_lists_cells_and_abilities(site):
    site.install_families("fam", FAMILY)
    site.install("fine", WORKING + ACCEPTS.format(answer="return True"))
    done = site.ep("capabilities", "--provider", "fine")
    assert done.returncode == 0, done.stderr
    assert ["twice", "-", "1", "0", "0", "0", "0"] in [line.split() for line in done.stdout.splitlines()]
    assert ["runtime", "fill", "0", "0", "1", "0", "0"] in [line.split() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("title", ["Foo [/] bar", "Foo [red] :smile: bar"])
def test_markup_in_a_device_name_is_shown_as_it_is(site, title):
    site.install("markup", WORKING + f"\nProvider.title = {title!r}\n")
    for command in ("devices", "doctor"):
        done = site.ep(command, EP_PROVIDERS="markup")
        assert done.returncode == 0, done.stderr
        assert title in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("arguments", [("devices",), ("devices", "--json"), ("doctor",)])
def test_output_that_cannot_be_written_is_a_failure_without_traceback(site, arguments):
    site.install("good", WORKING)
    with Path("/dev/full").open("w") as full:
        done = site.ep(*arguments, stdout=full, EP_PROVIDERS="good")
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
