"""Base of the recurrent cells: one step in time, over the input's contributions to the gates, computed beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.ground.glimpse import glimpse

from ep import TensorSpec
from ep_primitives.descriptors.composed import Composed
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec, described
from ep_primitives.elementwise.op import FLOATS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ACTIVATIONS", "RecurrentCell", "columns"]

ACTIVATIONS: Final = ("sigmoid", "tanh", "relu")
"""The activations of cells, rows of ElementwiseUnary: none is steeper than 1. An attribute is the index of one."""

_MATRIX: Final = 2


def columns(spec: TensorSpec, width: int, first: int, count: int = 1) -> TensorSpec:
    """Return the columns of some gates, of so many elements each, of a tensor (N, blocks H)."""
    rows, step = spec.strides
    return TensorSpec(spec.dtype, (spec.shape[0], count * width), (rows, step), spec.offset + first * width * step)


class RecurrentCell(Composed):
    """A cell that meets the state h (N, H) with recurrent weights r (blocks H, H), and adds that to gates (N, blocks H).

    blocks : how many gates there are, the candidate for the state among them; each has H columns of gates and H rows of r
    """

    __slots__ = ()

    blocks: ClassVar[int]

    @property
    def gates(self) -> TensorSpec:
        """The input's contributions to each gate, (N, blocks H)."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def h(self) -> TensorSpec:
        """The state before the step, (N, H)."""
        return self.specs[1]  # type: ignore[return-value]  # as above

    @property
    def r(self) -> TensorSpec:
        """The recurrent weights, (blocks H, H)."""
        return self.specs[self.operands.index("r")]  # type: ignore[return-value]  # as above

    @property
    def width(self) -> int:
        """H, the number of elements of a state."""
        return self.h.shape[1]

    def columns(self, spec: TensorSpec, first: int, count: int = 1) -> TensorSpec:
        """Return the columns of some gates of a tensor (N, blocks H)."""
        return columns(spec, self.width, first, count)

    def factors(self, first: int, count: int) -> TensorSpec:
        """Return the recurrent weights of some gates as the right factor of a product, (H, count H)."""
        r = self.r
        rows, step = r.strides
        return TensorSpec(r.dtype, (self.width, count * self.width), (step, rows), r.offset + first * self.width * rows)

    @property
    def flops(self) -> int:
        """Two operations a product with the weights, five an element of the gates for the rest."""
        return self.h.shape[0] * self.blocks * self.width * (2 * self.width + 5)

    @classmethod
    def shapes(cls, count: int, width: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of every operand, for so many states of so many elements."""
        gates, row = cls.blocks * width, (3 * width,)
        known = {"gates": (count, gates), "r": (gates, width), "peephole": row, "bias": row}
        return {name: known.get(name, (count, width)) for name in cls.roles.names}

    @classmethod
    def described(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the specs of the inputs given to `infer`, None for an absent operand. Raises if one is no tensor."""
        absent = {role.name for role in cls.roles if role.is_optional and given[role.name] is None}
        found = {name: None if name in absent else described(cls.family, name, each) for name, each in given.items()}
        check_dtype(cls.family, "gates", found["gates"], FLOATS)  # type: ignore[arg-type]  # never absent
        return found

    @classmethod
    def check(cls, specs: Mapping[str, Any]) -> None:
        """Raise TypeError or ValueError, naming the operand, unless all are tensors of fitting types and shapes.

        specs : by operand, None for one that is absent
        """
        op, given = cls.family, {name: spec for name, spec in specs.items() if spec is not None}
        written = {role.name for role in cls.roles if role.is_written}
        for role in cls.roles:
            if role.name in given or not role.is_optional:
                (check_output if role.is_written else _check_input)(op, specs[role.name], role.name)
        for name, spec in given.items():
            allowed = FLOATS if name == "gates" else (specs["gates"].dtype,)
            check_dtype(op, name, spec, allowed, is_output=name in written)
        h = specs["h"]
        if h.ndim != _MATRIX:
            message = f"{op}: h has shape {h.shape}, needs (N, H), a state in each row; give it rank {_MATRIX}"
            raise ValueError(message)
        for name, shape in cls.shapes(*h.shape).items():
            if name in given and given[name].shape != shape:
                message = (
                    f"{op}: {name} has shape {given[name].shape}, needs {shape} beside h {h.shape}; describe it so"
                )
                raise ValueError(message)

    @classmethod
    def position(cls, name: str, activation: Any) -> float:
        """Return the index in ACTIVATIONS that an argument names. Raises ValueError for an unknown name."""
        if not issubclass(type(activation), str) or str.__str__(activation) not in ACTIVATIONS:
            message = f"{cls.family}: {name} is {glimpse(activation)}, needs one of {', '.join(ACTIVATIONS)}; name one"
            raise ValueError(message)
        return float(ACTIVATIONS.index(str.__str__(activation)))


def _check_input(op: str, spec: Any, name: str) -> None:
    check_spec(op, name, spec)
