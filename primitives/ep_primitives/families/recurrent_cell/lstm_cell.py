"""Family LstmCell: a step in time of a network with long short-term memory (Hochreiter and Schmidhuber, 1997; forget gates, 2000).

definition   : the gates i, o, f and the candidate g are the columns of gates + h r^T, H each, in this order, which is ONNX's;
               i and f: with a peephole p = (p_i, p_o, p_f) p c is added to them; i, f = gate_activation i, f; g = candidate_activation g;
               c_next = f c + i g; o = gate_activation(o + p_o c_next); h_next = o output_activation(c_next). The part of a step's
               input x, gates = x w^T + b, is a Matmul of the caller, one for all steps
shapes       : gates (N, 4 H), h, c, h_next and c_next (N, H), r (4 H, H), peephole (3 H). Any strides
dtypes       : float16, bfloat16, float32, float64, the same of all
accumulation : in the compute type: float32 for 16-bit types, whose h_next and c_next are rounded once each, h_next from the unrounded
               c_next; else the type itself. Products sum as Matmul's do
NaN          : a NaN in a row of h makes that row of both results NaN, one in a row of r its column; for one in gates, c or peephole IEEE 754
               holds in its element; one in o reaches h_next alone
infinities   : IEEE 754 holds term by term: 0 c is NaN for a c that is infinite. Where a sum of finite numbers overflows, the element is open
signed zero  : the sign of a zero is open
empty        : without rows or without columns of h nothing is launched
determinism  : equal calls on one device give equal bits; whether a row has the same bits beside others is the provider's choice
in place     : c_next may be c; no other two share a byte
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.validation import chosen_output
from ep_primitives.families.matmul.descriptor import Matmul
from ep_primitives.families.recurrent_cell.descriptor import ACTIVATIONS, RecurrentCell
from ep_primitives.families.recurrent_cell.stages.lstm import LstmGates

__all__ = ["LstmCell"]


class LstmCell(RecurrentCell):
    """One step of an LSTM: h_next = o tanh(c_next), c_next = f c + i g, for gates i, o, f and g in columns of gates + h r^T.

    gates    : (N, 4 H), a floating element type: the input's contributions to i, o, f and g, bias included; read
    h, c     : (N, H), the dtype of gates: the state and the memory before the step; read
    r        : (4 H, H), the dtype of gates: the recurrent weights of i, o, f and g; read
    peephole : (3 H), the dtype of gates: factors for i, o and f: i and f add their factor times c, o adds its factor times c_next; read; None is 0
    h_next   : (N, H), the dtype of gates; written
    c_next   : as h_next; may be the same memory as c
    gate_activation, candidate_activation, output_activation : of i, o and f; of g; of c_next: sigmoid, tanh or relu

    Attributes are the positions of these in ACTIVATIONS. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "lstm_cell"
    roles: ClassVar[Roles] = Roles(
        Role.input("gates"),
        Role.input("h"),
        Role.input("c", shares=("c_next",)),
        Role.input("r"),
        Role.input("peephole", is_optional=True),
        Role.output("h_next"),
        Role.output("c_next"),
    )
    words: ClassVar[tuple[str, ...]] = ("gate_activation", "candidate_activation", "output_activation")
    blocks: ClassVar[int] = 4

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        gates: TensorSpec,
        h: TensorSpec,
        c: TensorSpec,
        r: TensorSpec,
        h_next: TensorSpec,
        c_next: TensorSpec,
        peephole: TensorSpec | None = None,
        gate_activation: str = "sigmoid",
        candidate_activation: str = "tanh",
        output_activation: str = "tanh",
    ) -> None:
        specs = (gates, h, c, r, peephole, h_next, c_next)
        self.check(dict(zip(self.roles.names, specs, strict=True)))
        given = (gate_activation, candidate_activation, output_activation)
        chosen = tuple([self.position(name, each) for name, each in zip(self.words, given, strict=True)])
        self._freeze("-", specs, chosen)

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        gates: Any,
        h: Any,
        c: Any,
        r: Any,
        peephole: Any = None,
        *,
        gate_activation: str = "sigmoid",
        candidate_activation: str = "tanh",
        output_activation: str = "tanh",
        h_next: Any = None,
        c_next: Any = None,
    ) -> Self:
        """Return the descriptor.

        gates, h, c, r, peephole : TensorSpecs, or arrays that TensorSpec.of reads; no peephole: None
        ..._activation           : as in the constructor
        h_next, c_next           : a TensorSpec or an array each; None: a dense one
        """
        op = cls.family
        read = cls.described({"gates": gates, "h": h, "c": c, "r": r, "peephole": peephole})
        dtype, shape = read["gates"].dtype, read["h"].shape
        made: dict[str, Any] = {
            name: chosen_output(op, each, dtype, shape, name) for name, each in (("h_next", h_next), ("c_next", c_next))
        }
        return cls(
            **read,
            **made,
            gate_activation=gate_activation,
            candidate_activation=candidate_activation,
            output_activation=output_activation,
        )

    @property
    def c(self) -> TensorSpec:
        """The memory before the step, (N, H)."""
        return self.specs[2]  # type: ignore[return-value]  # never a Scalar

    @property
    def peephole(self) -> TensorSpec | None:
        """The factors of the memory in the gates i, o and f."""
        return self.specs[4]  # type: ignore[return-value]  # as above

    @property
    def gate_activation(self) -> str:
        """The activation of i, o and f."""
        return ACTIVATIONS[int(self.attributes[0])]

    @property
    def candidate_activation(self) -> str:
        """The activation of g."""
        return ACTIVATIONS[int(self.attributes[1])]

    @property
    def output_activation(self) -> str:
        """The activation of c_next."""
        return ACTIVATIONS[int(self.attributes[2])]

    def lower(self) -> tuple[Stage, ...]:
        """Return a product, and the gates' operations, which add the input's contributions of 16-bit types."""
        sums, is_wide = TensorSpec(self.compute, self.gates.shape), self.gates.dtype == self.compute
        bias, added = (self.gates, None) if is_wide else (None, self.gates)
        names = {name: name for name, spec in (("peephole", self.peephole), ("gates", added)) if spec}
        product = Matmul(a=self.h, b=self.factors(0, 4), bias=bias, out=sums)
        operations = LstmGates.of(self, sums, added)
        return (
            Stage(product, a="h", b="r", out="sums", **({"bias": "gates"} if is_wide else {})),
            Stage(operations, sums="sums", c="c", h_next="h_next", c_next="c_next", **names),
        )
