"""NumPy as a peer: ufuncs and functions with `out=`, which CuPy has, too. It has no element type of 16 bits but float16, and one thread outside of BLAS."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from ep_primitives.judging.reference import array_dtype

from ep_benchmarks.peers.peer import Call, Peer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.judging.reference import Array

    import ep

    Form = Callable[[Any, Any, Mapping[str, Any], Mapping[str, Any]], Callable[[], Any] | None]

__all__ = ["FOREIGN", "FORMS", "PEER"]

_UFUNCS: Final = {
    "abs": "absolute",
    "max": "maximum",
    "min": "minimum",
    "div": "divide",
    "pow": "power",
    "fmod": "fmod",
    "floor_div": "floor_divide",
    "less_than": "less",
    "logical_and": "logical_and",
    **{name: name for name in ("add", "exp", "log", "negative", "sin", "sqrt", "square", "tan", "tanh", "cos")},
}
"""Ops by name, and the functions that mean the same for all element types that samples have."""
_MULTIPLIED: Final = {"mul": "multiply", "sub": "subtract"}
_REDUCED: Final = {"sum": "sum", "max": "amax", "mean": "mean"}
FOREIGN: Final = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"})
"""Types that ml_dtypes adds: its loops are another library's, and call a function an element."""


def _ufunc(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any] | None:
    name = {**_UFUNCS, **_MULTIPLIED}.get(descriptor.op)
    if name is None or (name == "divide" and outs["out"].dtype.kind not in "fc"):
        return None
    if name == "floor_divide":
        return partial(xp.floor_divide, *given.values(), outs["out"])
    typed = [value if hasattr(value, "dtype") else outs["out"].dtype.type(value) for value in given.values()]
    return partial(getattr(xp, name), *typed, outs["out"])


def _copied(view: Callable[[Any, Array], Array]) -> Form:
    def form(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any]:
        return partial(xp.copyto, outs["out"], view(descriptor, given["x"]), casting="unsafe")

    return form


def _reduce(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any] | None:
    name = _REDUCED.get(descriptor.op)
    keeps = descriptor.out.ndim == descriptor.x.ndim
    if name is None or (outs["out"].dtype == np.float16 and descriptor.op != "max"):  # it adds in 16 bits
        return None
    return partial(getattr(xp, name), given["x"], tuple(descriptor.axes), out=outs["out"], keepdims=keeps)


def _arg_reduce(
    xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]
) -> Callable[[], Any] | None:
    function = xp.argmax if descriptor.op == "max" else xp.argmin
    axis = descriptor.axes[0] if descriptor.x.ndim > 1 else None
    return partial(function, given["x"], axis, out=outs["out"])


def _matmul(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any] | None:
    if descriptor.bias is not None or descriptor.activation != "none" or descriptor.a.dtype != descriptor.out.dtype:
        return None
    if xp is np and outs["out"].dtype == np.float16:  # no BLAS has it: a loop that takes seconds
        return None
    return partial(xp.matmul, given["a"], given["b"], out=outs["out"])


def _gather(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any] | None:
    unchecked = ("clip",) if xp is np else ()  # CuPy wraps, and takes no word for it
    return partial(xp.take, given["x"], given["indices"], descriptor.axis, outs["out"], *unchecked)


def _scan(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any] | None:
    if descriptor.op != "sum" or descriptor.exclusive or descriptor.reverse:
        return None
    return partial(xp.cumsum, given["x"], descriptor.axis, out=outs["out"], dtype=outs["out"].dtype)


def _random(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any] | None:
    del given
    generator = xp.random.default_rng(0)
    forms: dict[str, Any] = {"uniform": generator.random, "normal": generator.standard_normal}
    form = forms.get(descriptor.op)
    return form and partial(form, out=outs["out"], dtype=outs["out"].dtype)


def _fill(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any] | None:
    del xp, descriptor
    return partial(outs["out"].fill, given["value"])


def _where(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Any]) -> Callable[[], Any] | None:
    del descriptor

    def select() -> None:
        xp.copyto(outs["out"], given["b"])
        xp.copyto(outs["out"], given["a"], where=given["condition"])

    return select


FORMS: Final[Mapping[str, Form]] = {
    "elementwise_unary": _ufunc,
    "broadcast_binary": _ufunc,
    "where": _where,
    "cast": _copied(lambda _, x: x),
    "copy": _copied(lambda _, x: x),
    "tensor_fill": _copied(lambda _, x: x),
    "permute": _copied(lambda descriptor, x: x.transpose(descriptor.permutation)),
    "fill": _fill,
    "reduce": _reduce,
    "arg_reduce": _arg_reduce,
    "matmul": _matmul,
    "gather": _gather,
    "scan": _scan,
    "random_fill": _random,
}
"""By family, from library, descriptor, inputs and outputs to the function that is timed."""


class _NumPy(Peer):
    name: ClassVar[str] = "numpy"

    @property
    def version(self) -> str:
        return np.__version__

    def use_threads(self, count: int) -> None:
        """Leave it: BLAS takes all processors unless its own variables of the environment say otherwise."""

    def call(self, descriptor: ep.Descriptor, inputs: Mapping[str, Any]) -> Call | None:
        if any(spec.dtype in FOREIGN for spec in descriptor.specs if spec is not None):
            return None
        form = FORMS.get(descriptor.family)
        outs = {name: np.zeros(spec.shape, array_dtype(spec.dtype)) for name, spec in descriptor.outputs.items()}
        run = form(np, descriptor, inputs, outs) if form else None
        return run and Call(run, lambda: outs)


PEER: Final = _NumPy()
"""What the entry point names."""
