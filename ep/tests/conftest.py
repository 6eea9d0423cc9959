"""Fixtures of the `ep` room."""

from __future__ import annotations

import manual
import pytest


@pytest.fixture
def provider() -> manual.ManualProvider:
    made = manual.ManualProvider(count=2)
    made.table = {
        manual.Negate: (manual.Strategy("Plain", manual.NegateKernel),),
        manual.Scale: (manual.Strategy("Plain", manual.ScaleKernel),),
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
