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
def provider() -> ep.Provider:
    twin = manual.ManualProvider(count=2)
    twin.table = {
        manual.Negate: (manual.Strategy("Plain", manual.NegateKernel),),
        manual.Scale: (manual.Strategy("Plain", manual.ScaleKernel),),
        manual.Add: (manual.Strategy("Plain", manual.AddKernel),),
    }
    return manual.provider_over(twin)


@pytest.fixture
def device(provider: ep.Provider) -> ep.Device:
    return provider.devices()[0]


@pytest.fixture
def stream(device: ep.Device) -> ep.Stream:
    return device.stream()


@pytest.fixture(params=["manual", "worker"])
def watched(request: pytest.FixtureRequest, device: ep.Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[ep.Stream]:
    """Return a stream made in validation mode."""
    monkeypatch.setenv("EP_VALIDATE", "1")
    if request.param == "worker":
        stream: ep.Stream = device._enlist(device._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
    else:
        stream = device.stream()
    yield stream
    stream.close()


@pytest.fixture
def host(provider: ep.Provider) -> ep.Device:
    """Return a device that reaches host memory and shows its own."""
    provider.twin.devices = lambda: [manual.HostDevice(ep.DeviceInfo("Host", "Test", alignment=1))]  # type: ignore[method-assign]
    return provider.devices()[0]


@pytest.fixture
def wide(provider: ep.Provider) -> ep.Device:
    """Return a device whose segments are 64 bytes and more."""
    provider.twin.devices = lambda: [manual.HostDevice(ep.DeviceInfo("Wide", "Test", memory=1 << 20, alignment=64))]  # type: ignore[method-assign]
    return provider.devices()[0]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)
