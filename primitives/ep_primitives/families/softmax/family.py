"""The cells of the softmaxes and of their backward forms, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.softmax import cases as softmax_cases
from ep_primitives.families.softmax import reference as softmax_reference
from ep_primitives.families.softmax.backward import LogSoftmaxBackward, SoftmaxBackward
from ep_primitives.families.softmax.descriptor import LogSoftmax, Softmax
from ep_primitives.families.softmax.plans import PLANS
from ep_primitives.judging.origin import row_index
from ep_primitives.situations.along import along_model
from ep_primitives.situations.family import SituatedFamily
from ep_primitives.situations.model import Dimension

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.descriptors.axis_descriptor import AxisDescriptor
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["LogSoftmaxBackwardFamily", "LogSoftmaxFamily", "SoftmaxBackwardFamily", "SoftmaxFamily"]

_VALUES: Final = Dimension("values-x", ("usual", "tiny", "huge"))


class _RowsFamily(SituatedFamily):
    """Each floating element type in each layout."""

    descriptor: ClassVar[Any]
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)

    def signatures(self) -> Iterator[Signature]:
        """Yield every floating element type."""
        for dtype in FLOATS:
            yield Signature("-", (dtype,) * (len(self.descriptor.roles.read)), dtype)

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of an element type in a layout."""
        by_hand = [*softmax_cases.cases(self.descriptor, signature.out, layout)]
        yield from (case for case in by_hand if case.profile == "quick")
        yield from self.constructed(signature, layout)
        yield from (case for case in by_hand if case.profile != "quick")

    def has(self, signature: Signature, layout: str) -> bool:  # noqa: ARG002 - the interface is SignatureFamily's
        """Say yes: every element type has every layout."""
        return True

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout; a third of x may be tiny or huge."""
        names = self.descriptor.roles.read
        return along_model(layout, names, () if len(names) > 1 else (_VALUES,))

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return softmax_cases.situated(self.descriptor, signature.out, layout, row, seed)

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return one for all: the element types meet the situations in turn."""
        return None

    def parts(self, descriptor: Any) -> Iterator[Descriptor]:
        """Yield single rows, and all but the first."""
        whole: AxisDescriptor = descriptor
        for window in rows(whole.out.shape, [axis for axis in range(whole.out.ndim) if axis != whole.axis]):
            cut = {name: windowed(spec, window) for name, spec in zip(whole.operands, descriptor.specs, strict=True)}
            yield self.descriptor(**cut, axis=whole.axis)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of each input."""
        del inputs, output
        row = row_index(len(at), {descriptor.axis}, at)
        return dict.fromkeys(descriptor.roles.read, row)

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition in a wider type, with S."""
        return softmax_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - the extent of a row is in S
        """Return the bound over S."""
        return softmax_reference.BOUND


class _ForwardFamily(_RowsFamily):
    def is_constant(self, descriptor: Any) -> bool:
        """Return True if the elements of each row are equal for any x."""
        whole: AxisDescriptor = descriptor
        return whole.extent == 1 or (whole.extent > 1 and descriptor.specs[0].strides[whole.axis] == 0)


class SoftmaxFamily(_ForwardFamily):
    """The cells of Softmax."""

    name: ClassVar[str] = "softmax"
    descriptor: ClassVar[type[Descriptor]] = Softmax


class LogSoftmaxFamily(_ForwardFamily):
    """The cells of LogSoftmax."""

    name: ClassVar[str] = "log_softmax"
    descriptor: ClassVar[type[Descriptor]] = LogSoftmax


class SoftmaxBackwardFamily(_RowsFamily):
    """The cells of SoftmaxBackward."""

    name: ClassVar[str] = "softmax_backward"
    descriptor: ClassVar[type[Descriptor]] = SoftmaxBackward


class LogSoftmaxBackwardFamily(_RowsFamily):
    """The cells of LogSoftmaxBackward."""

    name: ClassVar[str] = "log_softmax_backward"
    descriptor: ClassVar[type[Descriptor]] = LogSoftmaxBackward
