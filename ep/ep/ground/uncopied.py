"""Objects without copies: they own memory or work under way on a device."""

from __future__ import annotations

from typing import NoReturn, SupportsIndex

__all__ = ["Uncopied"]


class Uncopied:
    """A base of classes that `copy`, `deepcopy` and `pickle` refuse: a copy would free or await something twice."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        # All three ask this, or have a method of their own to look for, which nothing here has.
        del protocol
        message = (
            f"copy or pickle of {type(self).__name__}: it owns memory or work on a device and cannot be copied; "
            "pass the object itself, or the arguments that it was made from"
        )
        raise TypeError(message)
