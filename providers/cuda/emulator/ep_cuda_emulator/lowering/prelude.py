"""What each object begins with, from prelude.ll."""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ep_cuda_emulator.layout import Layout

__all__ = ["prelude"]

_TEXT: Final = Template(files(__package__).joinpath("prelude.ll").read_text(encoding="utf-8"))
_GIVEN: Final = "ptr %block, ptr %thread, i32 %tx, i32 %ty, i32 %tz, i64 %address, i32 %nbytes, i32 %access, i32 %line"


def prelude(layout: Layout, *, tracks_writes: bool) -> str:
    """Return the text; with `tracks_writes` each access is told to the library, which knows what was never written."""
    return _TEXT.substitute(
        layout._asdict(),
        given=_GIVEN,
        granule_mask=(1 << layout.granule_shift) - 1,
        bytes=layout.granules << layout.granule_shift,
        tracked=f"call void @ep_track({_GIVEN})" if tracks_writes else "",
    )
