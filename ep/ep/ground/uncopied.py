"""What has no copies: objects that own something on a device, or work under way there."""

from __future__ import annotations

from typing import NoReturn, SupportsIndex

__all__ = ["Uncopied"]


class Uncopied:
    """A base of what `copy`, `deepcopy` and `pickle` refuse: a second object would free, end or await the same thing again."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        # All three ask this, or have a method of their own to look for, which nothing here has.
        del protocol
        message = (
            f"copy or pickle of {type(self).__name__}: it owns what is on a device or under way there, and there is one of "
            "it; hand on the object itself, or what it was made from"
        )
        raise TypeError(message)
