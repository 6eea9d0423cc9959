"""The stub of ep_primitives and the claims of portable packages are of today; what is not is told, and written."""

import pytest
from ep.plugin.claims import read_claims
from ep_tools.generated import cuda_claims, kit_claims, opencl_claims, portable, stub

import ep

COMMANDS = {"stub": stub, "kit-claims": kit_claims, "opencl-claims": opencl_claims, "cuda-claims": cuda_claims}


@pytest.mark.parametrize("name", COMMANDS)
def test_committed_file_is_of_today(tools, name):
    """Whoever adds a family, or a portable kernel, runs `python tools stub`, `kit-claims`, `opencl-claims` and `cuda-claims`."""
    done = tools(name, "--check")
    assert (done.code, done.output, done.lines) == (0, "", [])


@pytest.mark.parametrize("name", COMMANDS)
def test_stale_file_is_told_and_written(tools, monkeypatch, tmp_path, name):
    module, file = COMMANDS[name], tmp_path / "folder" / "file"
    file.parent.mkdir()
    monkeypatch.setattr("ep_tools.renew.ROOT", tmp_path)
    monkeypatch.setattr(module, "FILE", file)
    monkeypatch.setattr(module, "text", lambda: "of today\n")
    stale = (1, "", [f"Error: folder/file is not of today; write it: python tools {name}"])
    assert tools(name, "--check") == stale
    file.write_text("yesterday")
    assert tools(name, "--check") == stale
    assert file.read_text() == "yesterday"
    assert tools(name) == (0, "", [])
    assert file.read_text() == "of today\n"
    assert tools(name, "--check") == (0, "", [])


def test_stub_imports_each_name_from_where_it_is_defined():
    lines = stub.text().splitlines()
    assert "from ep_primitives.families.softmax.descriptor import Softmax as Softmax" in lines
    assert '    "Softmax",' in lines


def test_claims_name_cells_of_the_portable_kernels():
    text = kit_claims.text()
    assert text.startswith('{% extends "package/ep_NAME/claims.toml.jinja" %}')
    assert '"broadcast_binary/add/*float[13]*/*",' in text
    assert '"random_fill/' in text


def test_claims_of_opencl_are_what_a_device_that_does_not_round_quotients_runs():
    """A pattern that matched more than was meant would promise what a device refuses."""
    have = {"fp64"}
    claims = read_claims(opencl_claims.FILE)
    claimed = {
        str(cell)
        for family in ep.families().values()
        for cell in family.cells()
        if claims.covers(str(cell), family.since(cell), frozenset(have))
    }
    assert claimed == portable.holding(frozenset(have), frozenset({"fp64", "rounded-divide-sqrt"}))
