"""The soak of the pool finds nothing in an honest device, and planted faults in others."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from ep_benchmarks import cli
from ep_benchmarks.pool import soak

import ep


@pytest.fixture
def device():
    found = ep.device("cpu:0")
    yield found
    found.trim()


def test_soak_of_twenty_thousand_pairs_finds_nothing(device):
    findings = soak(device, 20_000)
    assert findings.faults == ()
    assert (findings.pairs, findings.compared, findings.placed) == (20_000, 20_000, 20_000)
    assert findings.hits + findings.misses == 20_000
    assert findings.hits > findings.misses
    assert (findings.in_use, findings.reserved) == (0, 0)
    assert 0 < findings.peak <= findings.most_reserved


def test_bytes_that_are_given_out_too_early_are_found(device, monkeypatch):
    monkeypatch.setattr(ep.spi.worker._WorkerEvent, "is_done", lambda _: True)
    assert any("needed" in fault for fault in soak(device, 6000).faults)


def test_live_blocks_whose_addresses_overlap_are_found(device, monkeypatch):
    address = device.twin.address
    monkeypatch.setattr(device.twin, "address", lambda handle: address(handle) // 64)
    assert any("overlap the live block" in fault for fault in soak(device, 1000).faults)


def test_what_is_never_given_back_is_found(device, monkeypatch):
    monkeypatch.setattr(ep.Stream, "free", lambda stream, memory: lost.append(memory))
    lost = []
    assert any("still in use" in fault for fault in soak(device, 100).faults)
    for memory in lost:
        memory.close()


def test_command_prints_the_table_and_fails_on_a_fault(tmp_path, monkeypatch):
    done = CliRunner().invoke(
        cli.command, ["pool", "--provider", "cpu", "--pairs", "200", "--json", tmp_path / "x.json"]
    )
    assert done.exit_code == 0, done.output
    assert "peak reserved" in done.output
    assert (tmp_path / "x.json").exists()
    monkeypatch.setattr(cli, "soak", lambda *_: soak(*_)._replace(faults=("planted",)))
    done = CliRunner().invoke(cli.command, ["pool", "--provider", "cpu", "--pairs", "10"])
    assert done.exit_code == 1
    assert "planted" in done.output
