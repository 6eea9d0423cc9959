"""Family BatchNorm: each channel normalised by a given mean and variance, then scaled and moved, as in a trained network.

definition   : y = (x - mean) scale / sqrt(variance + epsilon) + bias, all but x and y one number a channel
shapes       : x and y have one shape, of rank 1 to 16, and any strides; mean, variance, scale and bias are (C), the extent of x along `axis`
dtypes       : float16, bfloat16, float32, float64, the same of all operands
accumulation : in the compute type: float32 for 16-bit types, whose y is rounded once, else the type itself. The factors of a channel
               may be folded first, y = x factor - (mean factor - bias): the error is one of mean factor, too
NaN          : a NaN in x makes its own y NaN, one in an operand of channels its channel; variance + epsilon below 0 makes its channel NaN
infinities   : for x IEEE 754 holds, 0 times an infinity is NaN. A channel is open if its mean, variance, scale or bias is infinite, or if
               variance + epsilon = 0; so is a result that overflows the compute type
signed zero  : the sign of a zero is open
empty        : without elements of x nothing is launched
determinism  : a result depends on its own x and its channel's numbers alone; equal calls on one device give equal bits
in place     : y may be x; no other two share a byte
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.channels import check_channels, check_parameter
from ep_primitives.descriptors.validation import (
    attribute_value,
    chosen_output,
    described,
)
from ep_primitives.families.batch_norm.stages import stages
from ep_primitives.families.layer_norm.descriptor import EPSILON
from ep_primitives.norms.norm import Norm, check_ends

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BatchNorm"]


class BatchNorm(Norm):
    """y = (x - mean) scale / sqrt(variance + epsilon) + bias, channel by channel.

    x        : a floating element type, channels along `axis`; read
    mean     : (C), the dtype of x; read
    variance : as mean; read
    scale    : as mean; read; None is 1
    bias     : as mean; read; None is 0
    y        : the shape and dtype of x; written; may be the same memory as x
    axis     : the dimension of x that numbers the channels; a negative one counts from the end
    epsilon  : a number above 0, which the compute type holds; 1e-5 is PyTorch's and ONNX's

    Attributes are (axis, epsilon), the axis not negative. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "batch_norm"
    roles: ClassVar[Roles] = Roles(
        Role.input("x", shares=("y",)),
        Role.input("mean"),
        Role.input("variance"),
        Role.input("scale", is_optional=True),
        Role.input("bias", is_optional=True),
        Role.output("y"),
    )
    words: ClassVar[tuple[str, ...]] = ("axis", "epsilon")

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        x: TensorSpec,
        mean: TensorSpec,
        variance: TensorSpec,
        y: TensorSpec,
        scale: TensorSpec | None = None,
        bias: TensorSpec | None = None,
        axis: int = 1,
        epsilon: float = 1e-5,
    ) -> None:
        op = self.family
        check_ends(op, x, y)
        place = axis_within(op, axis, x.shape, "x")
        channels = check_channels(op, x, y, place)
        check_parameter(op, "mean", mean, x.dtype, channels)
        check_parameter(op, "variance", variance, x.dtype, channels)
        for name, spec in (("scale", scale), ("bias", bias)):
            if spec is not None:
                check_parameter(op, name, spec, x.dtype, channels)
        held = attribute_value(op, EPSILON, epsilon, x.dtype)
        self._freeze("-", (x, mean, variance, scale, bias, y), (place, held))

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        x: Any,
        mean: Any,
        variance: Any,
        scale: Any = None,
        bias: Any = None,
        *,
        axis: int = 1,
        epsilon: float = 1e-5,
        y: Any = None,
    ) -> Self:
        """Return the descriptor.

        x, mean, variance, scale, bias : TensorSpecs, or arrays that TensorSpec.of reads; no scale or bias: None
        axis, epsilon                  : as in the constructor
        y                              : a TensorSpec or an array; None: a dense one
        """
        op = cls.family
        x = described(op, "x", x)
        y = chosen_output(op, y, x.dtype, x.shape, "y")
        given = {"mean": mean, "variance": variance, "scale": scale, "bias": bias}
        needed = {"mean", "variance"}
        made: dict[str, Any] = {
            name: described(op, name, each) for name, each in given.items() if each is not None or name in needed
        }
        return cls(x=x, y=y, axis=axis, epsilon=epsilon, **made)

    @property
    def axis(self) -> int:
        """The dimension of the channels, counted from the front."""
        return int(self.attributes[0])

    @property
    def parameters(self) -> Iterator[tuple[str, TensorSpec]]:
        """The operands of one number a channel, those that are there, with their names."""
        names = ("mean", "variance", "scale", "bias")
        return ((name, spec) for name in names if isinstance(spec := self.present.get(name), TensorSpec))

    def lower(self) -> tuple[Stage, ...]:
        """Return the stages: two numbers for each channel, then a product and a difference with them."""
        return tuple(stages(self))

    @property
    def flops(self) -> int:
        """Two operations an element."""
        return 2 * self.x.size
