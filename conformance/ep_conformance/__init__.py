"""The conformance suite of EP: does a provider mean what the interfaces say? `ep-conformance run --provider NAME`."""

from typing import Final

__all__ = ["SUITE"]

SUITE: Final = "1.0"
"""The version of the suite, which a provider's claims.toml names."""
