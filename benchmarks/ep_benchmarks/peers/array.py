"""NumPy as a peer: ufuncs and functions with `out=`. It has no element type of 16 bits but float16, and one thread outside of BLAS."""

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

    Form = Callable[[Any, Mapping[str, Any], Mapping[str, Array]], Callable[[], Any] | None]

__all__ = ["PEER"]

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
_REDUCED: Final[Mapping[str, Any]] = {"sum": np.sum, "max": np.amax, "mean": np.mean}
_FOREIGN: Final = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"})
"""Types that ml_dtypes adds: its loops are another library's, and call a function an element."""


def _ufunc(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    name = {**_UFUNCS, **_MULTIPLIED}.get(descriptor.op)
    if name is None or (name == "divide" and outs["out"].dtype.kind not in "fc"):
        return None
    if name == "floor_divide":
        return partial(np.floor_divide, *given.values(), outs["out"])
    typed = [value if isinstance(value, np.ndarray) else outs["out"].dtype.type(value) for value in given.values()]
    return partial(getattr(np, name), *typed, outs["out"])


def _copied(view: Callable[[Any, Array], Array]) -> Form:
    def form(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any]:
        return partial(np.copyto, outs["out"], view(descriptor, given["x"]), casting="unsafe")

    return form


def _reduce(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    function = _REDUCED.get(descriptor.op)
    keeps = descriptor.out.ndim == descriptor.x.ndim
    if function is None or (outs["out"].dtype == np.float16 and descriptor.op != "max"):  # it adds in 16 bits
        return None
    return partial(function, given["x"], tuple(descriptor.axes), out=outs["out"], keepdims=keeps)


def _arg_reduce(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    function: Any = np.argmax if descriptor.op == "max" else np.argmin
    axis = descriptor.axes[0] if descriptor.x.ndim > 1 else None
    return partial(function, given["x"], axis, out=outs["out"])


def _matmul(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    if descriptor.bias is not None or descriptor.activation != "none" or descriptor.a.dtype != descriptor.out.dtype:
        return None
    if outs["out"].dtype == np.float16:  # no BLAS has it: a loop that takes seconds
        return None
    return partial(np.matmul, given["a"], given["b"], outs["out"])


def _gather(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    return partial(np.take, given["x"], given["indices"], descriptor.axis, outs["out"], "clip")


def _scan(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    if descriptor.op != "sum" or descriptor.exclusive or descriptor.reverse:
        return None
    return partial(np.cumsum, given["x"], descriptor.axis, out=outs["out"], dtype=outs["out"].dtype)


def _random(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    del given
    generator = np.random.default_rng(0)
    forms: dict[str, Any] = {"uniform": generator.random, "normal": generator.standard_normal}
    form = forms.get(descriptor.op)
    return form and partial(form, out=outs["out"], dtype=outs["out"].dtype)


def _fill(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    del descriptor
    return partial(outs["out"].fill, given["value"])


def _where(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Array]) -> Callable[[], Any] | None:
    del descriptor

    def select() -> None:
        np.copyto(outs["out"], given["b"])
        np.copyto(outs["out"], given["a"], where=given["condition"])

    return select


_FORMS: Final[Mapping[str, Form]] = {
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
"""By family, from descriptor, inputs and outputs to the function that is timed."""


class _NumPy(Peer):
    name: ClassVar[str] = "numpy"

    @property
    def version(self) -> str:
        return np.__version__

    def use_threads(self, count: int) -> None:
        """Leave it: BLAS takes all processors unless its own variables of the environment say otherwise."""

    def call(self, descriptor: ep.Descriptor, inputs: Mapping[str, Any]) -> Call | None:
        if any(spec.dtype in _FOREIGN for spec in descriptor.specs if spec is not None):
            return None
        form = _FORMS.get(descriptor.family)
        outs = {name: np.zeros(spec.shape, array_dtype(spec.dtype)) for name, spec in descriptor.outputs.items()}
        run = form(descriptor, inputs, outs) if form else None
        return run and Call(run, lambda: outs)


PEER: Final = _NumPy()
"""What the entry point names."""
