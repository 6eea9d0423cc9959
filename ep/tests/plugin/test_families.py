"""Families' packages: each alone, so that a broken one harms nobody and is named."""

from __future__ import annotations

import pytest
from ep.plugin.families import check_family
from plugin_site import FAMILY, WORKING

import ep

HOOK = "import ep\n@ep.family_hook\ndef ep_families(): "


BROKEN = {
    "unavailable_import": ("import ep\nraise ep.UnavailableError('no licence')", "no licence"),
    "unavailable": (HOOK + "raise ep.UnavailableError('no licence')", "no licence"),
    "raising": (HOOK + "raise RuntimeError('no luck')", "RuntimeError: no luck"),
    "number": (HOOK + "return 3", "TypeError"),
    "object": (HOOK + "return [object()]", "needs instances of ep.Family"),
    "leaving": ("import sys\nsys.exit(3)", "SystemExit: 3"),
    "hookless": ("", "implements no hook ep_families"),
    "twins": (FAMILY.replace("return [Family()]", "return [Family(), Family()]"), "two families called twice"),
    "shouting": (FAMILY.replace('name = "twice"', 'name = "Twi/ce"'), "needs a word in small letters"),
    "reserved": (FAMILY.replace('"twice"', '"runtime"'), "not one of claims, collective, primitives, runtime"),
    "nameless": (FAMILY.replace('    name = "twice"\n', ""), "AttributeError"),
    "undescribed": (
        FAMILY.replace("descriptor = Twice", "descriptor = ep.Descriptor"),
        "needs a subclass of ep.Descriptor",
    ),
    "misnamed": (FAMILY.replace('family = "twice"', 'family = "thrice"'), "whose family is 'twice'"),
    "cells_raise": (FAMILY.replace("yield ep.Cell", "1 / 0; yield ep.Cell"), "ZeroDivisionError"),
    "cellless": (FAMILY.replace('yield ep.Cell("twice", "-", "int8", "dense")', "yield from ()"), "has no cells"),
    "foreign_cell": (FAMILY.replace('Cell("twice"', 'Cell("copy"'), "needs family twice"),
    "layout": (FAMILY.replace('"dense"', '"thick"'), "one of the layouts dense, strided"),
    "since": (FAMILY.replace('return "1.0"', 'return "one"'), "ValueError"),
    "sample": (FAMILY.replace('return Twice(ep.TensorSpec("int8", (4,)))', "return None"), "needs a Twice"),
    "abstract": (FAMILY.replace("def cases(self, cell): return ()", ""), "abstract"),
}
"""Code of a package, and the reason that is given for its refusal."""


def test_broken_families_harm_nobody_and_are_named(site):
    for package, (code, _) in BROKEN.items():
        site.install_families(package, code)
    site.install_families("fam", FAMILY.replace("twice", "sound"))
    names, failures = site.run(
        """
        from ep.plugin.families import family_packages
        print(json.dumps([list(ep.families()), {each.package: each.fault for each in family_packages() if each.fault}]))
        """
    )
    assert {"sound", "elementwise_unary"} <= set(names)
    assert "twice" not in names
    assert failures.keys() == BROKEN.keys()
    assert {package: fault for package, fault in failures.items() if BROKEN[package][1] not in fault} == {}


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
