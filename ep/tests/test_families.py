"""Families' packages: each alone, so that a broken one harms nobody and is named."""

from __future__ import annotations

import pytest
from plugin_site import FAMILY, WORKING

HOOK = "import ep\n@ep.family_hook\ndef ep_families(): "


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import ep\nraise ep.UnavailableError('no licence')", "no licence"),
        (HOOK + "raise ep.UnavailableError('no licence')", "no licence"),
        (HOOK + "raise RuntimeError('no luck')", "RuntimeError: no luck"),
        (HOOK + "return 3", "TypeError"),
        (HOOK + "return [object()]", "needs instances of ep.Family"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        ("", "implements no hook ep_families"),
    ],
    ids=["unavailable-import", "unavailable", "raising", "number", "object", "leaving", "hookless"],
)
def test_broken_families_harm_nobody_and_are_named(site, code, reason):
    site.install_families("bad", code)
    site.install_families("fam", FAMILY)
    names, failures = site.run(
        """
        from ep.registry import family_failures
        print(json.dumps([list(ep.families()), [[each.package, each.fault] for each in family_failures()]]))
        """
    )
    assert {"twice", "elementwise_unary"} <= set(names)
    ((package, fault),) = failures
    assert package == "bad"
    assert reason in fault


@pytest.mark.parametrize(
    "code", ["import ep\nraise ep.UnavailableError('no licence')", HOOK + "return [object()]"], ids=["here", "wrong"]
)
def test_doctor_names_broken_families_and_other_commands_go_on(site, code):
    site.install("good", WORKING)
    site.install_families("bad", code)
    doctor = site.ep("doctor", EP_PROVIDERS="good")
    assert doctor.returncode == 1
    assert any(line.split()[:3] == ["families", "bad", "broken"] for line in doctor.stdout.splitlines())
    assert "dist_bad" in doctor.stdout
    assert "Traceback" not in doctor.stderr + doctor.stdout
    assert site.ep("capabilities", "--provider", "good").returncode == 0


def test_family_brought_twice_is_kept_once_and_named(site):
    site.install_families("fam", FAMILY)
    site.install_families("later", FAMILY)
    kept, failures = site.run(
        """
        from ep.registry import family_failures
        kept = type(ep.families()["twice"]).__module__
        print(json.dumps([kept, [[each.package, each.fault] for each in family_failures()]]))
        """
    )
    assert kept == "fam"
    assert failures == [["later", "family twice is already brought by another package"]]
    assert "family twice is already brought" in site.ep("doctor", EP_PROVIDERS="none").stdout


def test_families_are_called_once(site):
    site.install_families("fam", FAMILY)
    assert site.run("print(json.dumps(ep.families()['twice'] is ep.families()['twice']))")
