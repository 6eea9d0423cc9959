"""A Program is a value: streams, memories and host buffers by name, and the ops that work on them, in the host's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ep_conformance.programs.op import Op, noise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep_conformance.fixture.trial import Bytes

__all__ = ["Intent", "Mix", "Program"]


@dataclass(frozen=True)
class Mix:
    """What kind of programs a case draws.

    verbs   : names of the verbs of verbs.py that a program may draw; a name given twice is drawn twice as often
    unit    : bytes that all lengths and places are multiples of; 4 makes all content float32
    nbytes  : of each memory and host buffer
    length  : how many intents a program is made of
    views   : True: some spans are views of views
    """

    verbs: tuple[str, ...]
    unit: int = 1
    nbytes: int = 256
    memories: int = 3
    length: int = 24
    views: bool = False


class Intent(NamedTuple):
    """What a program wants to do next: a verb, which stream does it, and numbers that the verb makes sense of."""

    verb: str
    stream: int
    first: int
    second: int
    third: int


@dataclass(frozen=True)
class Program:
    """A legal program.

    streams   : by name, whether it is synchronous and the number of its device
    memories  : those that are there at first, by name, with the number of their device
    """

    mix: Mix
    streams: Mapping[str, tuple[bool, int]]
    memories: Mapping[str, int]
    ops: tuple[Op, ...]

    def contents(self) -> Iterator[tuple[str, Bytes]]:
        """Yield the first contents of memories and host buffers."""
        for seed, name in enumerate((*self.memories, "h0", "h1")):
            yield name, noise(self.mix.nbytes, seed, self.mix.unit)

    def lines(self) -> Iterator[str]:
        """Yield the program as code, without the streams, memories and buffers that it does not use."""
        body = [line for op in self.ops for line in op.lines()]
        text = "\n".join(body)
        for name, (synchronous, number) in self.streams.items():
            if f"{name}." in text or f"({name}" in text:
                yield f"{name} = {_device(number)}.stream(synchronous={synchronous})"
        for seed, (name, content) in enumerate(self.contents()):
            if f"{name}[" in text or f"{name}." in text or f"={name}" in text:
                value = f"noise({content.nbytes}, {seed})"
                held = f"holding({_device(self.memories[name])}, {value})" if name in self.memories else value
                yield f"{name} = {held}"
        yield from body


def _device(number: int) -> str:
    return "device" if not number else f"devices[{number}]"
