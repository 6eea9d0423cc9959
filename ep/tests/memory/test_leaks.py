"""What is said of memories that nobody closed."""

from __future__ import annotations

import warnings

import pytest

import ep


def test_device_that_is_not_empty_says_in_few_words_what_is_open(device):
    held = [device.allocate(4) for _ in range(10_000)]
    held += [device.allocate(nbytes) for nbytes in (100, 200, 300, 400, 500, 600)]
    with pytest.raises(ep.EpError) as caught:
        device.close()
    text = str(caught.value)
    assert text.startswith(
        "manual:0.close: still open are 10000 memories of 4 bytes (device), 1 memory of 600 bytes (device), "
    )
    assert text.endswith("1 memory of 300 bytes (device), 2 memories of 2 other sizes; close them first")
    assert len(text) < 300
    for memory in held:
        memory.close()
    device.close()
    assert device.twin.in_use == 0


@pytest.mark.parametrize(
    ("variable", "value", "is_told"), [("EP_LEAKS", "1", True), ("EP_VALIDATE", "1", True), ("EP_LEAKS", "0", False)]
)
def test_process_that_ends_names_what_was_never_closed_if_it_is_asked(device, monkeypatch, variable, value, is_told):
    monkeypatch.delenv("EP_LEAKS", raising=False)
    monkeypatch.delenv("EP_VALIDATE", raising=False)
    monkeypatch.setenv(variable, value)
    held = [device.allocate(4), device.allocate(4), device.allocate(100)]
    device.allocate(8).close()
    device.allocate(16)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        device._close_memories()
        device._close_memories()
    told = [str(warning.message) for warning in caught]
    assert told == (
        ["manual:0: never closed: 1 memory of 100 bytes (device), 2 memories of 4 bytes (device); 108 bytes in all"]
        if is_told
        else []
    )
    assert all(memory.is_closed for memory in held)
    assert device.twin.in_use == 0
