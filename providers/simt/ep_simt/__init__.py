"""The kernel dialect and the portable kernels, written once for every compiler that takes a C dialect."""

from __future__ import annotations

from ep_simt.body import BitwiseBody, Body, bodies, body_of, descriptors, has_kernels, require
from ep_simt.elements import ELEMENTS
from ep_simt.kernel import Command, Function, Place, PortableKernel
from ep_simt.plan import Given, Launch, Made, Operand, Plan
from ep_simt.portable import Portable, implementations
from ep_simt.program import Entry, Parameter, Program
from ep_simt.target import CPU, GPU, Target

__all__ = [
    "CPU",
    "ELEMENTS",
    "GPU",
    "BitwiseBody",
    "Body",
    "Command",
    "Entry",
    "Function",
    "Given",
    "Launch",
    "Made",
    "Operand",
    "Parameter",
    "Place",
    "Plan",
    "Portable",
    "PortableKernel",
    "Program",
    "Target",
    "bodies",
    "body_of",
    "descriptors",
    "has_kernels",
    "implementations",
    "require",
]
