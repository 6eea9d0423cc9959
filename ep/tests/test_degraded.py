"""The README's table of what is degraded where says what the devices that are here say of themselves."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from ep.plugin.claims import read_claims

import ep

README = Path(__file__).resolve().parents[1] / "README.md"


def table():
    """Return for each ability the word of each provider."""
    lines = [line.strip("|").split("|") for line in README.read_text().splitlines() if line.startswith("|")]
    rows = [[cell.strip().strip("`") for cell in line] for line in lines]
    (head,) = [row for row in rows if row[:2] == ["ability", "cpu"]]
    body = rows[rows.index(head) + 2 :]
    providers = head[1:-1]
    return {row[0]: dict(zip(providers, row[1:], strict=False)) for row in body if len(row) == len(head)}


def test_every_ability_has_a_row():
    assert sorted(table()) == [*importlib.import_module("ep.plugin.capabilities").ABILITIES]


@pytest.mark.parametrize("provider", ["cpu", "opencl", "sim"])
def test_device_serves_its_abilities_as_the_table_says(provider):
    try:
        device = ep.device(f"{provider}:0")
    except ep.UnavailableError as error:
        pytest.skip(str(error))
    if provider == "opencl" and "cpu" not in device.info.features:
        pytest.skip("the table is of OpenCL's drivers for CPUs")
    claims = read_claims(device.provider.manifest.claims)
    found = {
        row.layout: row.how for row in importlib.import_module("ep.plugin.capabilities")._abilities(device, claims)
    }
    needed = {ability: words[provider] for ability, words in table().items()}
    if "priority" in device.info.features:
        needed["priority"] = "native"
    assert found == needed
