"""Fixtures of the `ep` room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import manual
import pytest
from plugin_site import Site

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def provider() -> manual.ManualProvider:
    made = manual.ManualProvider(count=2)
    made.table = {
        manual.Negate: (manual.Strategy("Plain", manual.NegateKernel),),
        manual.Scale: (manual.Strategy("Plain", manual.ScaleKernel),),
        manual.Add: (manual.Strategy("Plain", manual.AddKernel),),
    }
    return made


@pytest.fixture
def device(provider: manual.ManualProvider) -> manual.ManualDevice:
    found = provider.devices()[0]
    assert isinstance(found, manual.ManualDevice)
    return found


@pytest.fixture
def stream(device: manual.ManualDevice) -> manual.ManualStream:
    made = device.stream()
    assert isinstance(made, manual.ManualStream)
    return made


@pytest.fixture(params=["manual", "worker"])
def watched(
    request: pytest.FixtureRequest, device: manual.ManualDevice, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ep.Stream]:
    """Return a stream made in validation mode."""
    monkeypatch.setenv("EP_VALIDATE", "1")
    if request.param == "worker":
        stream: ep.Stream = device._enlist(ep.WorkerStream(device, manual.LaneStream(device)))
    else:
        stream = device.stream()
    yield stream
    stream.close()


@pytest.fixture
def host(provider: manual.ManualProvider) -> manual.HostDevice:
    """Return a device that reaches host memory and shows its own."""
    provider._devices = lambda: [manual.HostDevice(ep.DeviceInfo("Host", "Test", alignment=1))]  # type: ignore[method-assign]
    found = provider.devices()[0]
    assert isinstance(found, manual.HostDevice)
    return found


@pytest.fixture
def wide(provider: manual.ManualProvider) -> manual.HostDevice:
    """Return a device whose segments are 64 bytes and more."""
    provider._devices = lambda: [manual.HostDevice(ep.DeviceInfo("Wide", "Test", memory=1 << 20, alignment=64))]  # type: ignore[method-assign]
    found = provider.devices()[0]
    assert isinstance(found, manual.HostDevice)
    return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)
