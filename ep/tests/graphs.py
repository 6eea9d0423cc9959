"""Memories with contents, for tests of graphs."""

from __future__ import annotations

import ep

SPEC = ep.TensorSpec("int8", (4,))


def holding(stream: ep.Stream, *content: int) -> ep.Memory:
    memory = stream.device.allocate(len(content))
    stream.upload(memory, bytes(content))
    return memory


def content(stream: ep.Stream, memory: ep.Memory) -> list[int]:
    host = bytearray(memory.nbytes)
    stream.download(host, memory)
    stream.synchronize()
    return list(host)
