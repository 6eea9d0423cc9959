"""The pipe between a run and its worker: whole messages, or a sentence about what was there instead."""

import json
import os
import socket
import struct
import zlib

import pytest
from ep_conformance.run.channel import Channel, frame, set_apart

START = ["start", "runtime/device/info"]
HEAD = struct.Struct("<4sII")
MARK = frame(["any"])[:4]


@pytest.fixture
def ends():
    """A channel, and the bare socket of whoever writes to it."""
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    yield channel, theirs
    channel.close()
    theirs.close()


def framed(text):
    return HEAD.pack(MARK, len(text), zlib.crc32(text)) + text


def test_messages_arrive_as_they_were_sent_however_they_are_cut(ends):
    channel, other = ends
    messages = [START, ["done", "ü", {"margin": 1.5, "error": None}], ["run", [], 1 << 60]]
    for byte in b"".join(map(frame, messages)):
        other.send(bytes([byte]))
        channel.fill()
    assert [channel.take() for _ in range(4)] == [*messages, None]
    assert not channel.is_ready


def test_long_message_is_sent_while_it_is_read(ends):
    channel, other = ends
    message = ["survey", "x" * 3_000_000]
    sent = frame(message)
    other.setblocking(False)
    while sent:
        sent = sent[other.send(sent) :]
        assert channel.take() is None
        channel.fill()
    assert channel.take() == message
    assert (channel.begun, channel.waiting) == (None, 0)


@pytest.mark.parametrize(
    "junk",
    [
        b"\x7f\xff\xff\xff",
        b"\0",
        b"printf of a driver\n",
        MARK[:3] + b"?",
        HEAD.pack(MARK, 1 << 31, 0),
        HEAD.pack(MARK, 2, 0) + b"[]",
        framed(b"[]"),
        framed(b"{}"),
        framed(b"[NaN]"),
        framed(b"[" * 100_000),
        framed(b'["start"'),
        framed(b"\xff\xfe"),
        framed(json.dumps([{"kind": 1}]).encode()),
    ],
)
def test_what_is_no_message_is_junk_and_nothing_behind_it_is_read(ends, junk):
    channel, other = ends
    other.sendall(frame(START) + junk + frame(START))
    channel.fill()
    assert channel.take() == START
    assert channel.is_ready
    assert f"bytes of junk ({junk[:8].hex(' ')[:11]}" in channel.junk
    assert channel.take() is None
    said = channel.junk
    other.sendall(b"more")
    channel.fill()
    assert channel.junk == said


def test_message_that_does_not_end_blocks_nobody(ends):
    channel, other = ends
    other.sendall(frame(START)[:-1])
    for _ in range(3):
        channel.fill()
    assert not channel.is_ready
    assert channel.begun is not None
    assert channel.waiting == len(frame(START)) - 1
    other.sendall(frame(START)[-1:])
    channel.fill()
    assert channel.take() == START
    assert channel.begun is None


def test_end_is_told_from_silence(ends):
    channel, other = ends
    channel.fill()
    assert not channel.is_ready
    other.sendall(frame(START))
    other.close()
    assert channel.receive() == START
    assert channel.receive() is None
    assert channel.ended


def test_nobody_waits_for_a_reader_for_ever(ends):
    channel, _ = ends
    with pytest.raises(OSError, match="timed out"):
        channel.send(["run", "x" * 10_000_000], seconds=0.05)


def test_descriptor_of_a_worker_lies_apart_and_is_not_inherited():
    ours, theirs = socket.socketpair()
    apart = set_apart(theirs)
    assert theirs.fileno() == -1
    assert apart.fileno() > 100
    assert not os.get_inheritable(apart.fileno())
    ours.sendall(b"here")
    assert apart.recv(4) == b"here"
    ours.close()
    apart.close()
