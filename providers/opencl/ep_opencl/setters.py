"""Setters: Python functions, by which pyopencl sets the arguments of a kernel object; here one for all kernel objects that are alike.

pyopencl writes and compiles a module of two functions whenever a kernel object is made, and another when its types are told. Each
takes a millisecond, and its text stays in `linecache` for good. The functions have no state but their arguments, the kernel
object first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep.work.cache import LRU

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["keep_setters"]

_NAME: Final = "generate_enqueue_and_set_args"


def keep_setters() -> None:
    """Have pyopencl ask for functions that it wrote before, in this process. Idempotent; nothing changes in a pyopencl without that function.

    Raises sqlite3.Error where pyopencl's own database is on and damaged.
    """
    from pyopencl import invoker  # noqa: PLC0415 - it opens that database

    write = getattr(invoker, _NAME, None)
    if write is not None and not isinstance(write, _Kept):
        setattr(invoker, _NAME, _Kept(write))


class _Kept:
    """pyopencl's function, once for all calls with equal arguments; those that have no hash are other code's, and not kept."""

    def __init__(self, write: Callable[..., Any]) -> None:
        self._write = write
        self._made: LRU[Hashable, Any] = LRU()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        key = tuple(map(_hashable, arguments)), tuple((name, _hashable(value)) for name, value in named.items())
        try:
            hash(key)
        except TypeError:
            return self._write(*arguments, **named)
        return self._made.get(key, lambda _: self._write(*arguments, **named))


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
