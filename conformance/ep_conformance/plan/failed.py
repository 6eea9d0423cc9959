"""What `--failed` has to say where it chooses no case."""

from __future__ import annotations

__all__ = ["FailedError", "NothingFailed"]


class FailedError(Exception):
    """`--failed` cannot tell what failed, or nothing of that is chosen; the message says why, and what to do."""


class NothingFailed(Exception):  # noqa: N818 - it is good news
    """Nothing failed in the last run of the device, so that nothing is left to run."""
