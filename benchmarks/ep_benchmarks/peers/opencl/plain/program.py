"""Programs: what the text leaves open as macros, then the text. Each is built once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import pyopencl as cl

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_benchmarks.peers.opencl.plain.launch import Launch

__all__ = ["TYPES", "built", "number_of", "source"]

TYPES: Final = {
    "bool": "uchar",
    "uint8": "uchar",
    "uint16": "ushort",
    "uint32": "uint",
    "uint64": "ulong",
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "float16": "half",
    "float32": "float",
    "float64": "double",
    "complex64": "float2",
}
"""OpenCL's names of the element types that plain kernels have."""


def number_of(spec: ep.TensorSpec | ep.Scalar) -> str:
    """Return the type in which an operand's elements are computed.

    Without cl_khr_fp16, which few devices have, half is a type of memory alone, and its numbers are floats.
    """
    return "float" if spec.dtype == "float16" else TYPES[spec.dtype]


def source(launch: Launch, present: Mapping[str, Any]) -> str:
    """Return the whole text of a launch's program.

    present : TensorSpecs and Scalars by operand
    """
    words: dict[str, Any] = {}
    for name, operand in launch.operands.items():
        words |= _words(name, present[operand])
    words |= launch.words
    folder = files(__package__).joinpath("kernels")
    texts = [folder.joinpath(f"{text}.cl").read_text(encoding="utf-8") for text in launch.texts]
    return "\n".join([*(f"#define {name} {value}" for name, value in words.items()), *texts])


def _words(name: str, spec: ep.TensorSpec | ep.Scalar) -> dict[str, str]:
    """Return how a text speaks of an operand x: X_PARAMETER, X(i) and SET_X(i, v) for its elements, X_VALUE for their type."""
    value, upper = number_of(spec), name.upper()
    if isinstance(spec, ep.Scalar):
        return {f"{upper}_VALUE": value, f"{upper}_PARAMETER": f"const {value} {name}", f"{upper}(i)": name}
    is_half = spec.dtype == "float16"
    return {
        f"{upper}_VALUE": value,
        f"{upper}_PARAMETER": f"global {TYPES[spec.dtype]} *restrict {name}",
        f"{upper}(i)": f"vload_half(i, {name})" if is_half else f"{name}[i]",
        f"SET_{upper}(i, v)": f"vstore_half(v, i, {name})" if is_half else f"{name}[i] = (v)",
    }


@cache
def built(context: cl.Context, text: str) -> cl.Program:
    """Return the program of a text."""
    program: cl.Program = cl.Program(context, text).build()
    return program
