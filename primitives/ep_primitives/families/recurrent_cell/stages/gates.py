"""Base of the stages: each makes a state of gates that are sums of a product."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from ep import Stage, TensorSpec
from ep_primitives.descriptors.composed import Composed
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.recurrent_cell.descriptor import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MADE", "Gates", "Named", "activated", "joined"]

MADE: Final = "made"
"""A temporary of the gates, in which one operation after the other is done."""

Named = tuple[TensorSpec, str]
"""A tensor, and the name of its memory."""


class Gates(Composed):
    """Gates before their activations, in columns of sums (N, blocks H): of a product, and of what `gates` adds to it.

    sums  : a compute type; read
    gates : as sums, any floating element type: the input's contributions; read; None is 0

    `op` is the names of activations, and whatever else decides on a kernel, joined by "-": tables of kernels have a program each.
    """

    __slots__ = ()

    def __init__(self, op: str, *specs: TensorSpec | None) -> None:
        """Take `op`, and the spec of each role in its order, None for an absent one."""
        self._freeze(op, specs)

    @property
    def title(self) -> str:
        """The operation's name in messages: the family, because `op` says little alone."""
        return self.family

    @property
    def words_of_op(self) -> tuple[str, ...]:
        """The parts of `op`."""
        return tuple(self.op.split("-"))

    @property
    def sums(self) -> TensorSpec:
        """The gates without what `gates` adds."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def gates(self) -> TensorSpec | None:
        """What is added to the sums."""
        return self.specs[1]  # type: ignore[return-value]  # as above

    @property
    def state(self) -> TensorSpec:
        """The state that the gates act on, (N, H)."""
        return self.specs[2]  # type: ignore[return-value]  # as above

    @property
    def width(self) -> int:
        """H, the number of elements of a state."""
        return self.state.shape[1]

    @property
    def made(self) -> TensorSpec:
        """The temporary of the gates."""
        return TensorSpec(self.sums.dtype, self.sums.shape)

    def block(self, spec: TensorSpec, first: int, count: int = 1) -> TensorSpec:
        """Return the columns of some gates of a tensor (N, blocks H)."""
        return columns(spec, self.width, first, count)

    def lower(self) -> tuple[Stage, ...]:
        """Return an operation after the other, over a temporary of the gates; of 16-bit types all is float32."""
        return tuple(self.operations())

    @abstractmethod
    def operations(self) -> Iterator[Stage]:
        """Yield the stages."""

    def widened(self, spec: TensorSpec, name: str) -> Iterator[Stage]:
        """Yield the stage that makes a tensor of the compute type, named `wide NAME`, unless it is of that."""
        if spec.dtype != self.sums.dtype:
            yield Stage(Cast(x=spec, out=TensorSpec(self.sums.dtype, spec.shape)), x=name, out=f"wide {name}")

    def wide(self, spec: TensorSpec, name: str) -> Named:
        """Return a tensor behind `widened`."""
        same = spec.dtype == self.sums.dtype
        return (spec, name) if same else (TensorSpec(self.sums.dtype, spec.shape), f"wide {name}")

    def added(self) -> Iterator[Stage]:
        """Yield the stages that make sums complete, in the temporary, unless they are."""
        if self.gates is not None:
            yield from self.widened(self.gates, "gates")
            yield joined("add", self.wide(self.gates, "gates"), (self.sums, "sums"), (self.made, MADE))

    @property
    def whole(self) -> Named:
        """The sums behind `added`."""
        return (self.sums, "sums") if self.gates is None else (self.made, MADE)


def joined(op: str, a: Named, b: Named, out: Named) -> Stage:
    """Return a stage of BroadcastBinary."""
    return Stage(BroadcastBinary(op, a=a[0], b=b[0], out=out[0]), a=a[1], b=b[1], out=out[1])


def activated(op: str, x: Named, out: TensorSpec) -> Stage:
    """Return a stage of ElementwiseUnary whose result is in the temporary of the gates."""
    return Stage(ElementwiseUnary(op, x=x[0], out=out), x=x[1], out=MADE)
