"""Plain kernels of the families of ops on elements: a work-item an element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ep
from ep_benchmarks.peers.opencl.plain.formulas import BINARY, UNARY
from ep_benchmarks.peers.opencl.plain.launch import over, parameters
from ep_benchmarks.peers.opencl.plain.places import places
from ep_benchmarks.peers.opencl.plain.program import TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_benchmarks.peers.opencl.plain.launch import Form, Work

__all__ = ["FORMS"]


def _unary(descriptor: Any) -> Work | None:
    formula = UNARY[_kind(descriptor)].get(descriptor.op)
    return _dense(descriptor, "unary", {"RESULT": formula}) if formula else None


def _binary(descriptor: Any) -> Work | None:
    """Return a kernel in one dimension for dense operands and numbers, one in up to three for those that broadcast."""
    formula = BINARY[_kind(descriptor)].get(descriptor.op)
    if formula is None:
        return None
    dense = _dense(descriptor, "binary", {"RESULT": formula})
    visit = places(descriptor.out, descriptor.present)
    if dense or visit is None:
        return dense
    return over("elementwise/broadcast", descriptor.present, visit.sizes, {**visit.words, "RESULT": formula})


def _where(descriptor: Any) -> Work | None:
    return _dense(descriptor, "where", {})


def _add_n(descriptor: Any) -> Work | None:
    *terms, _ = descriptor.present
    total = " + ".join(f"{name.upper()}(i)" for name in terms)
    return _dense(descriptor, "add_n", {"PARAMETERS": parameters(terms), "SUM": total})


def _cast(descriptor: Any) -> Work | None:
    target = TYPES[descriptor.out.dtype]
    # A half is a number only in memory: what is stored there is a float.
    convert = {"bool": "v != 0", "float16": "convert_float(v)"}.get(descriptor.out.dtype, f"convert_{target}(v)")
    return _dense(descriptor, "unary", {"RESULT": convert})


def _quantize(descriptor: Any) -> Work | None:
    if not _has_one_scale(descriptor):
        return None
    return _scaled(descriptor, f"convert_{TYPES[descriptor.out.dtype]}_sat_rte(X(i) / SCALE(0))")


def _dequantize(descriptor: Any) -> Work | None:
    return _scaled(descriptor, "X(i) * SCALE(0)") if _has_one_scale(descriptor) else None


def _has_one_scale(descriptor: Any) -> bool:
    return descriptor.scale.size == 1 and descriptor.zero_point is None and not descriptor.block


def _scaled(descriptor: Any, formula: str) -> Work | None:
    if not (descriptor.x.is_dense and descriptor.out.is_dense):
        return None
    return over("elementwise/scaled", ("x", "scale", "out"), (descriptor.out.size,), {"RESULT": formula})


def _dense(descriptor: Any, kernel: str, words: Mapping[str, str]) -> Work | None:
    visit = places(descriptor.out, descriptor.present)
    if visit is None or not visit.is_dense:
        return None
    return over(f"elementwise/{kernel}", descriptor.present, visit.sizes, words)


def _kind(descriptor: Any) -> str:
    return str(ep.dtype(descriptor.specs[0].dtype).kind)


FORMS: Final[Mapping[str, Form]] = {
    "elementwise_unary": _unary,
    "broadcast_binary": _binary,
    "where": _where,
    "add_n": _add_n,
    "cast": _cast,
    "quantize": _quantize,
    "dequantize": _dequantize,
}
"""By family, from a descriptor to its launches, None without a form."""
