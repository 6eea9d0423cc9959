"""The family Scan."""

from __future__ import annotations

from ep_primitives.families.scan.descriptor import Scan
from ep_primitives.families.scan.rows import SCAN_OPS

__all__ = ["SCAN_OPS", "Scan"]
