"""How the operands of LayerNorm's cases lie, by layout of the cell, which of them are there, and what each case is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ep.layout.spec import dense_strides

from ep import TensorSpec
from ep_primitives.cases.arrangement import MANY, WINDOWS, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["OUTPUTS", "PLANS", "Plan"]

OUTPUTS: Final = ("y", "mean", "rstd")
_ALONE: Final = ("y",)
_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)
_ROWS: Final = (7, 65)

# Below, at and above vectors, the blocks of a sum, and the part of a row that a kernel keeps.
_SHAPES: Final = ((9, 1), (5, 2), (3, 16), (4, 17), (3, 513), (2, 1025), (2, 4097), (261, 10))
_STANDARD: Final = ((1, 16411), (300, 10), (70, 1000), (70001, 3), (3, 8192), (1, 262147))


@dataclass(frozen=True)
class Plan:
    """One case for any floating element type.

    x        : where it lies
    axis     : the first dimension of a row
    outputs  : of OUTPUTS those that are there, y always
    absent   : names of operands, of scale and bias, that are missing
    forms    : layouts of other operands that are not dense; those of mean and rstd also say whether extents of 1 are kept
    contents : names in ROWS and AFFINES of the contents of x, and of scale and bias
    exact    : True if the contents fix every bit of all outputs
    inplace  : True if y lies where x does
    dtypes   : the element types that have the case; none named are all
    """

    name: str
    x: Form
    axis: int = -1
    outputs: tuple[str, ...] = OUTPUTS
    absent: tuple[str, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    contents: tuple[str, str] = ("random", "usual")
    epsilon: float = 1e-5
    exact: bool = False
    inplace: bool = False
    profile: Profile = "quick"
    shift: int = 0
    dtypes: tuple[str, ...] = ()

    def specs(self, dtype: str, compute: str) -> dict[str, TensorSpec]:
        """Return the operands that are there, of an element type and its compute type."""
        shape = self.x.shape
        first = self.axis % max(len(shape), 1)
        kept = shape[:first] + (1,) * (len(shape) - first)
        usual = {"x": self.x, "scale": Form(shape[first:]), "bias": Form(shape[first:]), "y": Form(shape)}
        usual |= {"mean": Form(kept), "rstd": Form(kept)} | ({"y": self.x} if self.inplace else {})
        present = {name for name in usual if name not in self.absent and (name not in OUTPUTS or name in self.outputs)}
        return {
            name: TensorSpec(compute if name in OUTPUTS[1:] else dtype, *self.forms.get(name, form))
            for name, form in usual.items()
            if name in present
        }


def _plain(name: str, shape: tuple[int, ...], axis: int = -1, **more: Any) -> Plan:
    return Plan(name, Form(shape), axis, **more)


def _dense() -> Iterator[Plan]:
    for outputs in (OUTPUTS, OUTPUTS[:2], _ALONE):
        yield _plain(
            "-".join(("rows", *(f"no-{name}" for name in OUTPUTS if name not in outputs))), (7, 33), outputs=outputs
        )
    yield _plain("rows-no-mean", (7, 33), outputs=("y", "rstd"))
    for absent in (("scale",), ("bias",), ("scale", "bias")):
        name = "-".join(f"no-{each}" for each in absent)
        yield _plain(name, (7, 33), absent=absent)
        yield _plain(f"{name}-3x513", (3, 513), absent=absent, outputs=_ALONE)
    for shapes, profile in ((_SHAPES, "quick"), (_STANDARD, "standard")):
        for shape in shapes:
            yield _plain("x".join(map(str, shape)), shape, profile=profile)
    yield _plain("last-two", (4, 5, 33), 1)
    yield _plain("all", (6, 7, 5), 0)
    yield _plain("rank-16", _DEEP, 9)
    yield _plain("dimensions-dropped", (4, 5, 33), 1, forms={"mean": Form((4,)), "rstd": Form((4,))})
    for name, shape in (
        ("far-from-zero", (12, 37)),
        ("far-from-zero-1025", (5, 1025)),
        ("far-from-zero-4099", (3, 4099)),
    ):
        yield _plain(name, shape, contents=("far-from-zero", "usual"))
    for name, outputs in (("alone", _ALONE), ("no-rstd", OUTPUTS[:2])):
        yield _plain(f"far-from-zero-{name}", (12, 37), contents=("far-from-zero", "usual"), outputs=outputs)
    yield _plain("equal", (12, 37), contents=("equal", "usual"))
    yield _plain("one-far", (12, 131), contents=("one-far", "usual"))
    yield _plain("same-sign", (3, 16411), contents=("same-sign", "usual"))
    yield _plain("small", (12, 37), contents=("small", "usual"))
    yield _plain("epsilon-3", (12, 37), contents=("small", "usual"), epsilon=3.0)
    yield _plain("epsilon-1e-12", (12, 37), contents=("small", "usual"), epsilon=1e-12)
    yield _plain("not-finite-columns", (12, 37), contents=("random", "not-finite"))
    for n in (8, 64, 1024):
        yield _plain(f"exact-{n}", (15, n), contents=("halves", "integral"), epsilon=3.0, exact=True)
    yield _plain("exact-alone", (15, 64), contents=("halves", "integral"), epsilon=3.0, exact=True, outputs=_ALONE)
    yield _plain(
        "exact-no-rstd", (15, 64), contents=("halves", "integral"), epsilon=3.0, exact=True, outputs=OUTPUTS[:2]
    )
    yield _plain("special-rows", (15, 8), contents=("special", "integral"), epsilon=3.0, exact=True)
    yield _plain("special-rows-1024", (15, 1024), contents=("special", "integral"), epsilon=3.0, exact=True)


def _strided() -> Iterator[Plan]:
    turned, padded, rows = Form((33, 17), (1, 33)), Form(_ROWS, (80, 1)), Form(_ROWS)
    yield Plan("transposed", turned)
    for outputs in (_ALONE, OUTPUTS[:2]):
        yield Plan(f"transposed-{len(outputs)}", turned, outputs=outputs)
    yield Plan("transposed-y", Form((33, 17)), forms={"y": turned})
    yield Plan("padded-rows", padded, forms={"y": Form(_ROWS, (67, 1))})
    yield Plan("negative-strides", Form(_ROWS, (-65, -1), 454), forms={"y": Form(_ROWS, (70, -1), 64)})
    yield Plan("windows", Form(_ROWS, (1, 1)))
    yield Plan("windows-2d", WINDOWS, 2)
    yield Plan("stride-0-rows", Form(_ROWS, (0, 1)))
    yield Plan("stride-0-columns", Form(_ROWS, (1, 0)))
    yield Plan("every-third", Form((2, 4099), (2, 3)), forms={"y": Form((2, 4099), (1, 2))})
    columns = {"scale": Form((65,), (-2,), 128), "bias": Form((65,), (3,))}
    yield Plan("columns-apart", rows, forms=columns)
    yield Plan("columns-repeated", rows, forms={"scale": Form((65,), (0,)), "bias": Form((65,), (0,))})
    statistics = {"mean": Form((7, 1), (3, 1)), "rstd": Form((7,), (-2,), 12)}
    yield Plan("statistics-apart", rows, forms=statistics)
    yield Plan("rows-of-two", Form((5, 6, 11), (200, 20, 1)), 1, forms={"y": Form((5, 6, 11), (1, 55, 5))})
    yield Plan("rows-turned", Form((4, 6, 11), (66, 1, 6)), 1, forms={"scale": Form((6, 11), (1, 6))})
    outside_in = tuple(reversed(dense_strides(tuple(reversed(_DEEP)))))
    yield Plan("rank-16", Form(_DEEP, outside_in), 6)
    narrow = ("float16", "bfloat16")
    yield Plan("far-rows", Form((2, 19), (MANY, 1)), outputs=_ALONE, profile="large", dtypes=narrow)


def _inplace() -> Iterator[Plan]:
    for outputs in (OUTPUTS, OUTPUTS[:2], _ALONE):
        yield Plan(f"x-{len(outputs)}", Form((5, 131)), inplace=True, outputs=outputs)
    yield Plan("x-padded-rows", Form(_ROWS, (80, 1)), inplace=True)
    yield Plan("x-transposed", Form((33, 17), (1, 33)), inplace=True)
    yield Plan("x-long", Form((2, 8197)), inplace=True, absent=("bias",))


def _offset() -> Iterator[Plan]:
    odd = {name: Form((131,), None, 2 * place + 1) for place, name in enumerate(("scale", "bias"))}
    odd |= {"mean": Form((3, 1), None, 5), "rstd": Form((3, 1), None, 3), "y": Form((3, 131), None, 7)}
    for outputs in (OUTPUTS, OUTPUTS[:2], _ALONE):
        yield Plan(f"odd-{len(outputs)}", Form((3, 131), None, 1), forms=odd, outputs=outputs)
    yield Plan("padded-rows", Form(_ROWS, (80, 1), 3), forms={"y": Form(_ROWS, (70, 1), 5)}, shift=3)


def _empty() -> Iterator[Plan]:
    for outputs in (OUTPUTS, OUTPUTS[:2], _ALONE):
        yield _plain(f"no-rows-{len(outputs)}", (0, 5), outputs=outputs)
    yield _plain("rows-of-none", (5, 0))
    yield _plain("rows-of-none-alone", (5, 0), outputs=_ALONE)
    yield _plain("middle-0", (3, 0, 5), 1)


def _rank0() -> Iterator[Plan]:
    for outputs in (OUTPUTS, OUTPUTS[:2], _ALONE):
        yield _plain(f"one-{len(outputs)}", (), outputs=outputs)


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
