"""Agreement: what two devices compute by one formula in one arithmetic has equal bits; what else need not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives.judging.accuracy import Exact

import ep
from ep_conformance.judge.bits import check_bits
from ep_conformance.judge.determinism import is_promised, with_nan_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt
    from ep_primitives.judging.accuracy import Accuracy

    from ep_conformance.judge.draw import Draw
    from ep_conformance.judge.operand import Image

__all__ = [
    "BITS_OF",
    "DIFFERENT",
    "EQUAL",
    "ApartError",
    "check_agreement",
    "check_same",
    "incomparable",
    "require_one_class",
]

EQUAL: Final = "equal"
DIFFERENT: Final = "different"
"""`Outcome.bits` of a case that was compared; of one that was not it is the reason."""

BITS_OF: Final = "bits-of"
"""The name of such a failure in a replay file."""

_FUSED: Final = "fused-multiply-add"
_ROUNDED: Final = "rounded-divide-sqrt"
_DOUBLE: Final = "float64"
_SINGLE: Final = frozenset({"float32", "complex64"})
"""The compute types whose quotients and roots may be rounded wrongly; those of float64 are right on every device."""


class ApartError(Exception):
    """Two devices round formulas in two ways, so that no bits are comparable; the message says which, and the cure."""


def require_one_class(mine: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Raise ApartError unless both devices fuse products with sums, or neither does.

    mine, other : a device's name and features, as in `Subject.device`
    """
    fusing, rounding = sorted((mine, other), key=lambda device: _FUSED not in device["features"])
    if _fuses(fusing) == _fuses(rounding):
        return
    message = (
        f"bits of {mine['name']} and {other['name']} are not comparable: {fusing['name']} rounds x y + z once "
        f"({_FUSED}), {rounding['name']} twice; {_cure(fusing['name'], rounding['name'])}"
    )
    raise ApartError(message)


def _fuses(device: Mapping[str, Any]) -> bool:
    return _FUSED in device["features"]


def _cure(fusing: str, rounding: str) -> str:
    if fusing.startswith("cpu:"):
        return "the CPU has kernels that do, too: EP_CPU_ISA=baseline ep-conformance run ..."
    if rounding.startswith("cpu:"):
        return "the CPU has kernels that do so once: EP_CPU_ISA=avx2 ep-conformance run ..., on a processor with AVX2"
    return "name a device of the same arithmetic"


def incomparable(
    family: ep.Family,
    descriptor: ep.Descriptor,
    accuracies: Iterable[Accuracy],
    devices: Sequence[ep.Device],
    *,
    is_moved: bool = False,
) -> str:
    """Return why results of a descriptor may have other bits on each of two devices, "" if they must be equal.

    accuracies : that its outputs are held to
    is_moved   : True if elements are moved bit for bit
    """
    is_exact = all(isinstance(accuracy, Exact) for accuracy in accuracies)
    if not (is_exact or family.is_reproducible(descriptor)):
        return "the family leaves open how its results are rounded"
    types = {ep.dtype(spec.dtype) for spec in descriptor.specs if spec is not None}
    names = {row.name for row in types} | {row.compute for row in types}
    wide = [_DOUBLE in device.info.dtypes for device in devices]
    for device in devices:
        if not is_promised(device):
            return f"{device.name} promises no equal bits even of equal launches: DeviceInfo.determinism"
        if not is_exact and _ROUNDED not in device.info.features and names & _SINGLE:
            return f"{device.name} may round quotients and roots of float32 wrongly: it lacks {_ROUNDED}"
        if not is_exact and any(wide) and _DOUBLE not in device.info.dtypes:
            return f"{device.name} has no {_DOUBLE}, in which the other device may compute float32"
        flushed = names & device.info.flushes
        if flushed and not is_moved:
            return f"{device.name} flushes denormals of {', '.join(sorted(flushed))}"
    return ""


def check_agreement(drawn: Draw, mine: Mapping[str, Image], theirs: Mapping[str, Image], other: str) -> None:
    """Fail the case unless the outputs that two devices wrote have equal bits; a NaN is equal to any NaN.

    mine, theirs : what the operands' allocations held after each launch
    other        : the name of the device that wrote the latter
    """
    for name in drawn.outputs:
        operand = drawn.tensors[name]
        check_same(name, operand.tensor(mine[name]), operand.tensor(theirs[name]), other)


def check_same(name: str, given: npt.NDArray[Any], needed: npt.NDArray[Any], other: str) -> None:
    """Fail the case at the first element of an output whose bits another device does not give, NaN apart."""
    check_bits(name, with_nan_of(given, needed), needed, f"as {other} gave", BITS_OF)
