"""A device that was closed and opened again has a namesake: what was made for the old one says so."""

from __future__ import annotations

import manual
import pytest

import ep

SPEC = ep.TensorSpec("int8", (4,))


@pytest.fixture
def reopened(provider):
    """Return what was made on a device, and what is made on the one that has its name now."""

    def make():
        device = provider.devices()[0]
        stream = device.stream()
        with stream.capture() as graph:
            pass
        return device, stream, manual.Negate(x=SPEC, out=SPEC).on(device), graph

    old = make()
    old[1].close()
    old[0].close()
    new = make()
    assert old[0].name == new[0].name
    return old, new


def test_stream_of_a_device_that_was_closed_says_so(reopened):
    (_, stream, *_), (device, _, negate, graph) = reopened
    x, out = device.allocate(4), device.allocate(4)
    message = "stream is of a device manual:0 that was closed; make a new one on manual:0"
    for run in (
        lambda: negate(stream, x=x, out=out),
        lambda: negate.bind(x=x, out=out)(stream),
        lambda: graph.launch(stream),
    ):
        with pytest.raises(ep.ClosedError, match=message):
            run()


def test_what_was_made_for_a_device_that_was_closed_says_so(reopened):
    (_, _, negate, graph), (device, stream, *_) = reopened
    x, out = device.allocate(4), device.allocate(4)
    message = r"was made for a device manual:0 that was closed; make it anew for ep.device\('manual:0'\)"
    for run in (
        lambda: negate(stream, x=x, out=out),
        lambda: negate.bind(x=x, out=out),
        lambda: graph.launch(stream),
    ):
        with pytest.raises(ep.ClosedError, match=message):
            run()
