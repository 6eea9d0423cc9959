"""Families' packages: each alone, so that a broken one harms nobody and is named."""

from __future__ import annotations

import pytest
from ep.plugin.families import check_family
from plugin_site import FAMILY, WORKING

import ep

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
        (FAMILY.replace("return [Family()]", "return [Family(), Family()]"), "two families called twice"),
        (FAMILY.replace('name = "twice"', 'name = "Twi/ce"'), "needs a word in small letters"),
        (FAMILY.replace('"twice"', '"runtime"'), "not one of claims, collective, primitives, runtime"),
        (FAMILY.replace('    name = "twice"\n', ""), "AttributeError"),
        (FAMILY.replace("descriptor = Twice", "descriptor = ep.Descriptor"), "needs a subclass of ep.Descriptor"),
        (FAMILY.replace('family = "twice"', 'family = "thrice"'), "whose family is 'twice'"),
        (FAMILY.replace("yield ep.Cell", "1 / 0; yield ep.Cell"), "ZeroDivisionError"),
        (FAMILY.replace('yield ep.Cell("twice", "-", "int8", "dense")', "yield from ()"), "has no cells"),
        (FAMILY.replace('Cell("twice"', 'Cell("copy"'), "needs family twice"),
        (FAMILY.replace('"dense"', '"thick"'), "one of the layouts dense, strided"),
        (FAMILY.replace('return "1.0"', 'return "one"'), "ValueError"),
        (FAMILY.replace('return Twice(ep.TensorSpec("int8", (4,)))', "return None"), "needs a Twice"),
        (FAMILY.replace("def cases(self, cell): return ()", ""), "abstract"),
    ],
    ids=[
        *("unavailable-import", "unavailable", "raising", "number", "object", "leaving", "hookless"),
        *("twins", "shouting", "reserved", "nameless", "undescribed", "misnamed", "cells-raise", "cellless"),
        *("foreign-cell", "layout", "since", "sample", "abstract"),
    ],
)
def test_broken_families_harm_nobody_and_are_named(site, code, reason):
    site.install_families("bad", code)
    site.install_families("fam", FAMILY.replace("twice", "sound"))
    names, failures = site.run(
        """
        from ep.plugin.families import family_packages
        print(json.dumps([list(ep.families()), [[each.package, each.fault] for each in family_packages() if each.fault]]))
        """
    )
    assert {"sound", "elementwise_unary"} <= set(names)
    assert "twice" not in names
    ((package, fault),) = failures
    assert package == "bad"
    assert reason in fault


def test_families_of_ep_are_sound_although_no_process_checks_them():
    assert len(ep.families()) > 30
    for family in ep.families().values():
        check_family(family)


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
        from ep.plugin.families import family_packages
        kept = type(ep.families()["twice"]).__module__
        print(json.dumps([kept, [[each.package, each.fault] for each in family_packages() if each.fault]]))
        """
    )
    assert kept == "fam"
    assert failures == [["later", "family twice is already brought by fam (dist_fam 1.0); rename it or uninstall one"]]
    assert "family twice is already brought by fam" in site.ep("doctor", EP_PROVIDERS="none").stdout


def test_names_of_the_own_families_are_not_taken_by_a_package_that_sorts_before(site):
    site.install_families("a_copy", FAMILY.replace('"twice"', '"copy"'))
    kept, fault = site.run(
        """
        from ep.plugin.families import family_packages
        faults = {each.package: each.fault for each in family_packages()}
        print(json.dumps([type(ep.families()["copy"]).__module__, faults["a_copy"]]))
        """
    )
    assert kept == "ep_primitives.families.copy.descriptor"
    assert fault.startswith("family copy is already brought by ep_primitives (execution-provider ")


def test_families_are_called_once(site):
    site.install_families("fam", FAMILY)
    assert site.run("print(json.dumps(ep.families()['twice'] is ep.families()['twice']))")
