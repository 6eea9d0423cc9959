"""The process that translates: it reads requests of the library from a socket, and answers them one after the other.

    load BYTES              then a program's PTX; ok HANDLE ENTRIES VARIABLES, and a line for each of those
    build HANDLE HOT ENTRY  ok COOPERATIVE SHARED BYTES, then an object
    forget HANDLE           no answer

An error is a line `error CODE BYTES`, then its text. It ends when the library closes the socket.
"""

from __future__ import annotations

import pickle
import signal
import socket
import sys
from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.initial import initial_bytes
from ep_cuda_emulator.kept import kept
from ep_cuda_emulator.layout import Layout
from ep_cuda_emulator.ptx.module import Module
from ep_cuda_emulator.ptx.words import PtxError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

__all__ = ["main"]

_INVALID_PTX: Final = 218
_NOT_SUPPORTED: Final = 801
_UNKNOWN: Final = 999


class _Translator:
    """Programs by their handles, and answers about them."""

    def __init__(self, layout: Layout, *, tracks_writes: bool) -> None:
        self._layout = layout
        self._tracks_writes = tracks_writes
        self._programs: dict[int, Module] = {}
        self._count = 0

    def load(self, text: str) -> bytes:
        module = Module(text)
        entries = [each for each in module.functions.values() if each.is_entry]
        variables = [each for each in module.variables.values() if each.space in {"global", "const"}]
        self._count += 1
        self._programs[self._count] = module
        lines = [f"ok {self._count} {len(entries)} {len(variables)}\n".encode()]
        for entry in entries:
            end = max((each.offset + each.nbytes for each in entry.parameters), default=0)
            places = " ".join(f"{each.offset} {each.nbytes}" for each in entry.parameters)
            lines.append(f"{entry.name} {entry.most} {end} {len(entry.parameters)} {places}\n".encode())
        for variable in variables:
            content = initial_bytes(variable)
            head = f"{variable.name} {variable.space} {variable.align} {variable.nbytes} {len(content)}\n"
            lines.append(head.encode() + content)
        return b"".join(lines)

    def build(self, handle: int, entry: str, *, is_hot: bool) -> bytes:
        module = self._programs[handle]
        key = "\n".join((entry, repr(self._layout), str(is_hot), str(self._tracks_writes), module.text))
        cooperative, shared, content = pickle.loads(kept(key, lambda: self._made(module, entry, is_hot=is_hot)))  # noqa: S301 - sealed, of this user
        return b"ok %d %d %d\n" % (cooperative, shared, len(content)) + bytes(content)

    def _made(self, module: Module, entry: str, *, is_hot: bool) -> bytes:
        from ep_cuda_emulator.lowering.entry import lower  # noqa: PLC0415 - a program from the cache needs no compiler
        from ep_cuda_emulator.machine_code import object_of  # noqa: PLC0415

        lowered = lower(module, entry, self._layout, tracks_writes=self._tracks_writes, by_rows=is_hot)
        return pickle.dumps((lowered.is_cooperative, lowered.shared, object_of(lowered.text, is_hot=is_hot)))

    def forget(self, handle: int) -> None:
        self._programs.pop(handle, None)


def _answers(translator: _Translator, requests: BinaryIO) -> Iterator[bytes]:
    for line in requests:
        verb, *words = line.decode().split()
        try:
            if verb == "load":
                yield translator.load(requests.read(int(words[0])).decode())
            elif verb == "build":
                yield translator.build(int(words[0]), words[2], is_hot=words[1] == "1")
            else:
                translator.forget(int(words[0]))
        except PtxError as error:
            yield _error(_INVALID_PTX if error.is_supported else _NOT_SUPPORTED, str(error))
        except Exception as error:  # noqa: BLE001 - the library says it, and the program goes on
            yield _error(_UNKNOWN, f"{type(error).__name__}: {error}")


def _error(code: int, text: str) -> bytes:
    content = text.encode()
    return f"error {code} {len(content)}\n".encode() + content


def main(arguments: list[str]) -> None:
    """Serve the socket with this number, for a library with this layout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    number, layout, tracks = arguments
    with socket.socket(fileno=int(number)) as connection, connection.makefile("rb") as requests:
        translator = _Translator(Layout(*map(int, layout.split(","))), tracks_writes=tracks == "tracks")
        for answer in _answers(translator, requests):
            connection.sendall(answer)


if __name__ == "__main__":
    main(sys.argv[1:])
