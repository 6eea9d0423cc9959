"""Family GruCell: a step in time of a network of gated recurrent units (Cho et al., 2014).

definition   : the gates z and s and the candidate n are columns, H each, in this order, which is ONNX's: z, s = gate_activation(gates + h r^T);
               n = candidate_activation(gates + (s h) r^T), or with linear_before_reset n = candidate_activation(gates + s (h r^T + bias)), where
               the bias is in z and s, too; h_next = n + z (h - n). The part of a step's input x, gates = x w^T + b, is a Matmul of the
               caller, one for all steps
shapes       : gates (N, 3 H), h and h_next (N, H), r (3 H, H), bias (3 H). Any strides
dtypes       : float16, bfloat16, float32, float64, the same of all
accumulation : in the compute type: float32 for 16-bit types, whose h_next is rounded once, else the type itself. Products sum as Matmul's do
NaN          : a NaN in a row of h makes that row NaN, one in r, gates or bias the elements whose gates it enters; without
               linear_before_reset a NaN in s makes its row NaN
infinities   : IEEE 754 holds term by term in z, s and n; an element with an infinite z or n, which relu alone can give, is open, because kernels
               may compute (1 - z) n + z h. Where a sum of finite numbers overflows, the element is open, without linear_before_reset its row
signed zero  : the sign of a zero is open
empty        : without rows or without columns of h nothing is launched
determinism  : equal calls on one device give equal bits; whether a row has the same bits beside others is the provider's choice
in place     : no two share a byte
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.validation import chosen_output, flag
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.matmul.descriptor import Matmul
from ep_primitives.families.recurrent_cell.descriptor import ACTIVATIONS, RecurrentCell
from ep_primitives.families.recurrent_cell.stages.gru import GruGates, GruReset

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GruCell"]


class GruCell(RecurrentCell):
    """One step of gated recurrent units: h_next = n + z (h - n), for gates z and s and a candidate n of gates and h r^T.

    gates  : (N, 3 H), a floating element type: the input's contributions to z, s and n, bias included; read
    h      : (N, H), the dtype of gates: the state before the step; read
    r      : (3 H, H), the dtype of gates: the recurrent weights of z, s and n; read
    bias   : (3 H), the dtype of gates: added to h r^T before the product with s; read; None is 0; must be None unless linear_before_reset
    h_next : (N, H), the dtype of gates; written
    linear_before_reset : s is a factor of h r^T + bias, as in PyTorch and cuDNN, not of h
    gate_activation, candidate_activation : of z and s; of n: sigmoid, tanh or relu

    Attributes are (linear_before_reset, then the positions of these in ACTIVATIONS). Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "gru_cell"
    roles: ClassVar[Roles] = Roles(
        Role.input("gates"),
        Role.input("h"),
        Role.input("r"),
        Role.input("bias", is_optional=True),
        Role.output("h_next"),
    )
    words: ClassVar[tuple[str, ...]] = ("linear_before_reset", "gate_activation", "candidate_activation")
    blocks: ClassVar[int] = 3

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        gates: TensorSpec,
        h: TensorSpec,
        r: TensorSpec,
        h_next: TensorSpec,
        bias: TensorSpec | None = None,
        linear_before_reset: bool = False,
        gate_activation: str = "sigmoid",
        candidate_activation: str = "tanh",
    ) -> None:
        op = self.family
        specs = (gates, h, r, bias, h_next)
        self.check(dict(zip(self.roles.names, specs, strict=True)))
        is_linear = flag(op, "linear_before_reset", linear_before_reset)
        if bias is not None and not is_linear:
            message = (
                f"{op}: bias is given and linear_before_reset is False, needs None; add it to gates, once for all steps"
            )
            raise ValueError(message)
        chosen = (
            self.position("gate_activation", gate_activation),
            self.position("candidate_activation", candidate_activation),
        )
        self._freeze("-", specs, (is_linear, *chosen))

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        gates: Any,
        h: Any,
        r: Any,
        bias: Any = None,
        *,
        linear_before_reset: bool = False,
        gate_activation: str = "sigmoid",
        candidate_activation: str = "tanh",
        h_next: Any = None,
    ) -> Self:
        """Return the descriptor.

        gates, h, r, bias                    : TensorSpecs, or arrays that TensorSpec.of reads; no bias: None
        linear_before_reset, ..._activation  : as in the constructor
        h_next                               : a TensorSpec or an array; None: a dense one
        """
        op = cls.family
        read = cls.described({"gates": gates, "h": h, "r": r, "bias": bias})
        made = chosen_output(op, h_next, read["gates"].dtype, read["h"].shape, "h_next")
        return cls(
            **read,
            h_next=made,
            linear_before_reset=linear_before_reset,
            gate_activation=gate_activation,
            candidate_activation=candidate_activation,
        )

    @property
    def bias(self) -> TensorSpec | None:
        """The bias of h r^T, added before the reset."""
        return self.specs[3]  # type: ignore[return-value]  # never a Scalar

    @property
    def linear_before_reset(self) -> bool:
        """Whether the reset is a factor of the product, not of h."""
        return bool(self.attributes[0])

    @property
    def gate_activation(self) -> str:
        """The activation of z and s."""
        return ACTIVATIONS[int(self.attributes[1])]

    @property
    def candidate_activation(self) -> str:
        """The activation of n."""
        return ACTIVATIONS[int(self.attributes[2])]

    def lower(self) -> tuple[Stage, ...]:
        """Return one product, or two with the reset between them, and the gates' operations."""
        sums = TensorSpec(self.compute, self.gates.shape)
        return tuple(self._reset_behind(sums) if self.linear_before_reset else self._reset_before(sums))

    def _reset_behind(self, sums: TensorSpec) -> Iterator[Stage]:
        """Yield one product for all gates, and their operations, which add the input's contributions."""
        bias, moved = self.bias, {} if self.bias is None else {"bias": "bias"}
        if bias is not None and bias.dtype != sums.dtype:
            narrow, bias, moved = bias, TensorSpec(sums.dtype, bias.shape), {"bias": "wide bias"}
            yield Stage(Cast(x=narrow, out=bias), x="bias", out="wide bias")
        yield Stage(Matmul(a=self.h, b=self.factors(0, 3), bias=bias, out=sums), a="h", b="r", out="sums", **moved)
        operations = GruGates.of(self, sums, self.gates)
        yield Stage(operations, sums="sums", gates="gates", h="h", h_next="h_next")

    def _reset_before(self, sums: TensorSpec) -> Iterator[Stage]:
        """Yield the gates' product, h times the reset, its product with the candidate's weights, and the gates' operations.

        Products add the input's contributions, but those of 16-bit types, which the operations add.
        """
        is_wide = self.gates.dtype == sums.dtype
        moved, added = ({"bias": "gates"}, {}) if is_wide else ({}, {"gates": "gates"})
        gates = self.gates if added else None
        z, n = self.columns(sums, 0, 2), self.columns(sums, 2)
        bias = self.columns(self.gates, 0, 2) if is_wide else None
        yield Stage(Matmul(a=self.h, b=self.factors(0, 2), bias=bias, out=z), a="h", b="r", out="sums", **moved)
        reset = GruReset.of(self, self.columns(sums, 1), gates and self.columns(gates, 1))
        yield Stage(reset, sums="sums", h="h", reset="reset", **added)
        factor, weights = self.factors(2, 1), "r"
        if not is_wide:
            narrow, factor, weights = factor, TensorSpec(sums.dtype, factor.shape), "wide r"
            yield Stage(Cast(x=narrow, out=factor), x="r", out=weights)
        bias = self.columns(self.gates, 2) if is_wide else None
        yield Stage(Matmul(a=reset.out, b=factor, bias=bias, out=n), a="reset", b=weights, out="sums", **moved)
        yield Stage(GruGates.of(self, sums, gates), sums="sums", h="h", h_next="h_next", **added)
