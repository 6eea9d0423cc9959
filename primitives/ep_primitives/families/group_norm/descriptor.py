"""Family GroupNorm: the channels of each sample normalised in groups, then scaled and moved channel by channel.

definition   : over each group of C / groups channels of a sample, over all their elements: d = x - mean, variance = the mean of d^2,
               y = d scale / sqrt(variance + epsilon) + bias, with the channel's scale and bias. groups = C is ONNX's and PyTorch's
               InstanceNormalization, groups = 1 a LayerNorm of whole samples
shapes       : x and y have one shape (N, C, ...), of rank 2 to 16, at most 15 with 1 < groups < C; scale and bias (C). Any strides
dtypes       : float16, bfloat16, float32, float64, the same of x, scale, bias and y
accumulation : in the compute type, as LayerNorm; for 16-bit types y is rounded once, scale and bias included
NaN          : a NaN in a group makes all of it NaN; one in scale or bias its channel of y
infinities   : an infinity makes all of its group NaN. Where a sum or a square of finite numbers overflows the compute type, the group is open
signed zero  : the sign of a zero is open
empty        : without elements of x nothing is launched
determinism  : a result depends on the values and the extent of its own group, on scale and on bias, never on threads, on other
               groups or on their number; equal calls on one device give equal bits
in place     : y may be x; no other two share a byte
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ep.ground.glimpse import glimpse
from ep.integers import integer
from ep.layout.dims import Geometry, merge
from ep.layout.spec import MAX_RANK

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.channels import check_channels, check_parameter
from ep_primitives.descriptors.validation import (
    attribute_value,
    chosen_output,
    described,
)
from ep_primitives.families.group_norm.stages import stages
from ep_primitives.families.layer_norm.descriptor import EPSILON
from ep_primitives.norms.norm import Norm, check_ends

__all__ = ["GroupNorm"]


class GroupNorm(Norm):
    """y = (x - mean) scale / sqrt(variance + epsilon) + bias, over each group of channels of a sample.

    x       : (N, C, ...), a floating element type; read
    scale   : (C), the dtype of x; read; None is 1
    bias    : as scale; read; None is 0
    y       : the shape and dtype of x; written; may be the same memory as x
    groups  : an integer that divides C
    epsilon : a number above 0, which the compute type holds; 1e-5 is PyTorch's and ONNX's

    Attributes are (groups, epsilon). Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "group_norm"
    roles: ClassVar[Roles] = Roles(
        Role.input("x", shares=("y",)),
        Role.input("scale", is_optional=True),
        Role.input("bias", is_optional=True),
        Role.output("y"),
    )
    words: ClassVar[tuple[str, ...]] = ("groups", "epsilon")

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        x: TensorSpec,
        y: TensorSpec,
        groups: int,
        scale: TensorSpec | None = None,
        bias: TensorSpec | None = None,
        epsilon: float = 1e-5,
    ) -> None:
        op = self.family
        check_ends(op, x, y)
        channels = check_channels(op, x, y, 1)
        for name, spec in (("scale", scale), ("bias", bias)):
            if spec is not None:
                check_parameter(op, name, spec, x.dtype, channels)
        number = integer(f"{op}: groups", groups)
        if number < 1 or channels % number:
            message = f"{op}: groups is {glimpse(number)}, needs a divisor of the {channels} channels of x {x.shape}; {channels or 1} normalises each alone"
            raise ValueError(message)
        if 1 < number < channels and x.ndim == MAX_RANK:
            message = f"{op}: x has rank {x.ndim}, needs {MAX_RANK - 1} at most where groups is {number} of {channels} channels; merge two dimensions"
            raise ValueError(message)
        held = attribute_value(op, EPSILON, epsilon, x.dtype)
        self._freeze("-", (x, scale, bias, y), (number, held))

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls, x: Any, groups: int, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5, y: Any = None
    ) -> Self:
        """Return the descriptor.

        x, scale, bias  : TensorSpecs, or arrays that TensorSpec.of reads; no scale or bias: None
        groups, epsilon : as in the constructor
        y               : a TensorSpec or an array; None: a dense one
        """
        op = cls.family
        x = described(op, "x", x)
        y = chosen_output(op, y, x.dtype, x.shape, "y")
        made = {
            name: each if each is None else described(op, name, each)
            for name, each in (("scale", scale), ("bias", bias))
        }
        return cls(x=x, y=y, groups=groups, epsilon=epsilon, **made)

    @property
    def groups(self) -> int:
        """How many groups the channels of a sample make."""
        return int(self.attributes[0])

    @property
    def across(self) -> Geometry:
        """The merged dimensions that number the groups of all samples: strides and offsets of x, scale, bias and y."""
        return merge(self._part(self.out, is_inner=False), self._parts(is_inner=False))

    @property
    def along(self) -> Geometry:
        """The merged dimensions of a group in their order, channels first: strides and offsets of x, scale, bias and y."""
        return merge(self._part(self.out, is_inner=True), self._parts(is_inner=True), keeps_order=True)

    def _parts(self, *, is_inner: bool) -> list[TensorSpec | None]:
        return [self._part(spec, is_inner=is_inner) if isinstance(spec, TensorSpec) else None for spec in self.specs]

    def _part(self, spec: TensorSpec, *, is_inner: bool) -> TensorSpec:
        """Return the samples and groups of an operand, or the channels of a group and what lies behind them."""
        samples, channels, *rest = self.x.shape
        each = channels // self.groups
        of_sample, of_channel, *inner = spec.strides if spec.ndim > 1 else (0, *spec.strides, *(0 for _ in rest))
        if is_inner:
            return TensorSpec(spec.dtype, (each, *rest), (of_channel, *inner), spec.offset)
        return TensorSpec(spec.dtype, (samples, self.groups), (of_sample, of_channel * each), spec.offset)

    def lower(self) -> tuple[Stage, ...]:
        """Return a LayerNorm over views of x, and the two broadcasts."""
        return tuple(stages(self))

    @property
    def flops(self) -> int:
        """Seven operations an element, as LayerNorm's."""
        return 7 * self.x.size
