"""Family CrossEntropy: the cost of each label under the probabilities of its classes, sample by sample, in sum or on average.

definition   : p = log_softmax x over the classes, or x itself where it holds logarithms already; loss = -p[label] weights[label];
               a label that is `ignore_index`, or no class, does not count: its loss and its weight are 0, whatever x holds there.
               reduction "none": out = loss; "sum": the sum of all; "mean": the sum divided by the sum of the weights of all labels.
               ONNX's SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss
shapes       : x (N, C, ...), of rank 2 to 16, labels (N, ...), weights (C), out the shape of labels, or () for a sum or a mean. Any strides
dtypes       : float16, bfloat16, float32, float64, the same of x, weights and out; labels int32 or int64
accumulation : in the compute type: float32 for 16-bit types, whose out is rounded once, else the type itself. Sums are made in
               trees, as in Reduce
NaN          : a NaN score makes the loss of its row NaN, a NaN logarithm only the loss of its label, a NaN weight the losses of its class;
               any of these makes a sum or a mean NaN
infinities   : IEEE 754 holds of logarithms, 0 times an infinity is NaN; of scores the rules of LogSoftmax
signed zero  : the sign of a zero is open
empty        : a sum of no labels is 0, a mean over no weight NaN; without elements of out nothing is launched
determinism  : a loss depends on its own row, label and weight alone; equal calls on one device give equal bits
in place     : no two share a byte

As it lowers, the logarithms of scores are a temporary of the shape of x in the compute type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep.dtypes import DTYPES
from ep.ground.glimpse import glimpse
from ep.integers import integer
from ep.layout.cells import dtypes_name
from ep.layout.dims import Geometry, merge

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.channels import check_parameter
from ep_primitives.descriptors.composed import Composed
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec, chosen_output, described, flag
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.cross_entropy.stages import stages
from ep_primitives.families.gather.descriptor import INDEX_DTYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["REDUCTIONS", "CrossEntropy"]

REDUCTIONS: Final = ("none", "sum", "mean")
"""The reduction of the losses."""


class CrossEntropy(Composed):
    """out = -log p[label] weights[label], with p = softmax x over the classes; of each label, their sum or their mean.

    x            : (N, C, ...), a floating element type: scores, or logarithms of probabilities; read
    labels       : (N, ...), int32 or int64; read
    weights      : (C), the dtype of x; read; None is 1 for each class
    out          : (N, ...), of a sum or a mean (); the dtype of x; written
    reduction    : "none", "sum" or "mean", the sum over the weights of the labels that count
    ignore_index : an integer, the label that does not count; None: every class does
    is_log       : True if x holds logarithms of probabilities, and no softmax is taken

    Attributes are (the position of the reduction, is_log, whether a label is ignored, which). Raises TypeError or ValueError for
    anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "cross_entropy"
    roles: ClassVar[Roles] = Roles(
        Role.input("x"), Role.input("labels"), Role.input("weights", is_optional=True), Role.output("out")
    )
    words: ClassVar[tuple[str, ...]] = ("reduction", "ignore_index", "is_log")

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        x: TensorSpec,
        labels: TensorSpec,
        out: TensorSpec,
        weights: TensorSpec | None = None,
        reduction: str = "mean",
        ignore_index: int | None = None,
        is_log: bool = False,
    ) -> None:
        op = self.family
        check_output(op, out)
        check_spec(op, "x", x)
        check_spec(op, "labels", labels)
        check_dtype(op, "x", x, FLOATS)
        check_dtype(op, "labels", labels, INDEX_DTYPES)
        check_dtype(op, "out", out, (x.dtype,), is_output=True)
        shape = _shape(op, x, labels, reduction)
        if out.shape != shape:
            message = f"{op}: out has shape {out.shape}, needs {shape} for the reduction {reduction!r} of labels {labels.shape}; describe out so"
            raise ValueError(message)
        if weights is not None:
            check_parameter(op, "weights", weights, x.dtype, x.shape[1])
        ignored = None if ignore_index is None else integer(f"{op}: ignore_index", ignore_index)
        numbers = (REDUCTIONS.index(reduction), flag(op, "is_log", is_log), ignored is not None, ignored or 0)
        self._freeze("-", (x, labels, weights, out), numbers)

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        x: Any,
        labels: Any,
        weights: Any = None,
        *,
        reduction: str = "mean",
        ignore_index: int | None = None,
        is_log: bool = False,
        out: Any = None,
    ) -> Self:
        """Return the descriptor.

        x, labels, weights              : TensorSpecs, or arrays that TensorSpec.of reads; no weights: None
        reduction, ignore_index, is_log : as in the constructor
        out                             : a TensorSpec or an array; None: a dense one
        """
        op = cls.family
        x, labels = described(op, "x", x), described(op, "labels", labels)
        weights = None if weights is None else described(op, "weights", weights)
        out = chosen_output(op, out, x.dtype, _shape(op, x, labels, reduction))
        words: dict[str, Any] = {"reduction": reduction, "ignore_index": ignore_index, "is_log": is_log}
        return cls(x=x, labels=labels, weights=weights, out=out, **words)

    @property
    def x(self) -> TensorSpec:
        """The scores, or logarithms of probabilities."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def labels(self) -> TensorSpec:
        """Which class each sample is."""
        return self.specs[1]  # type: ignore[return-value]  # as above

    @property
    def weights(self) -> TensorSpec | None:
        """The weight of each class."""
        return self.specs[2]  # type: ignore[return-value]  # as above

    @property
    def reduction(self) -> str:
        """The reduction of the losses."""
        return REDUCTIONS[int(self.attributes[0])]

    @property
    def is_log(self) -> bool:
        """Whether x holds logarithms of probabilities."""
        return bool(self.attributes[1])

    @property
    def ignore_index(self) -> int | None:
        """The label that does not count."""
        return int(self.attributes[3]) if self.attributes[2] else None

    @property
    def ignored(self) -> int | None:
        """The label that does not count, if the type of labels holds it."""
        number, (low, high) = self.ignore_index, DTYPES[self.labels.dtype].range
        return number if number is not None and low <= number <= high else None

    @property
    def across(self) -> Geometry:
        """The merged dimensions that number the rows: strides and offsets of x, labels and out; out's are 0 where losses are joined."""
        x, labels, out = self.x, self.labels, self.out
        firsts = TensorSpec(x.dtype, labels.shape, (x.strides[0], *x.strides[2:]), x.offset)
        joined = TensorSpec(out.dtype, labels.shape, (0,) * labels.ndim, out.offset)
        return merge(labels, (firsts, labels, out if self.reduction == "none" else joined))

    def lower(self) -> tuple[Stage, ...]:
        """Return a softmax, the gathering of the labels' logarithms and weights, and sums."""
        return tuple(stages(self))

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell, with the element types of x and labels."""
        return f"cross_entropy/-/{dtypes_name((self.x.dtype, self.labels.dtype), self.x.dtype)}/{self.layout}"

    @property
    def flops(self) -> int:
        """Five operations an element of scores, three a label."""
        return (0 if self.is_log else 5) * self.x.size + 3 * self.labels.size


def _shape(op: str, x: TensorSpec, labels: TensorSpec, reduction: Any) -> Sequence[int]:
    """Return the shape of out. Raises ValueError for labels that do not fit x, and for an unknown reduction."""
    if not issubclass(type(reduction), str) or reduction not in REDUCTIONS:
        message = (
            f"{op}: reduction is {glimpse(reduction)}, which is not one of {', '.join(REDUCTIONS)}; give one of them"
        )
        raise ValueError(message)
    if x.ndim < 2:  # noqa: PLR2004 - samples and classes
        message = f"{op}: x has rank {x.ndim}, needs at least 2: (samples, classes, ...); add extents of 1"
        raise ValueError(message)
    samples = (x.shape[0], *x.shape[2:])
    if labels.shape != samples:
        message = f"{op}: labels has shape {labels.shape}, needs {samples} for x {x.shape}, one label for each place without the classes; reshape it"
        raise ValueError(message)
    return samples if reduction == "none" else ()
