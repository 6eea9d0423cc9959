"""The kernel dialect and the kernel bodies, written once for every compiler that takes a C dialect."""

from __future__ import annotations

from ep_simt.call import Call, Entry, calls_of, entries_of
from ep_simt.program import ELEMENTS, Parameter, Program, entry_of, program_of, require
from ep_simt.random_program import ADVANCE, ADVANCE_PARAMETERS, RandomProgram, random_entry_of, random_program_of
from ep_simt.rows import Row, rows
from ep_simt.visit import Visit, geometry_nbytes, visit_of

__all__ = [
    "ADVANCE",
    "ADVANCE_PARAMETERS",
    "ELEMENTS",
    "Call",
    "Entry",
    "Parameter",
    "Program",
    "RandomProgram",
    "Row",
    "Visit",
    "calls_of",
    "entries_of",
    "entry_of",
    "geometry_nbytes",
    "program_of",
    "random_entry_of",
    "random_program_of",
    "require",
    "rows",
    "visit_of",
]
