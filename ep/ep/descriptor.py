"""A descriptor says what to compute, as a frozen value that knows no device."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.asked import keep_and_explain
from ep.cells import dtypes_name
from ep.dims import Geometry, merge
from ep.dtypes import DTYPES
from ep.glimpse import glimpse
from ep.key import KernelKey, kernel_key
from ep.spec import Scalar, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep.device import Device
    from ep.dtypes import Number
    from ep.primitive import Primitive

__all__ = ["Descriptor"]

_SIDES: Final = {"a": "scalar-left", "b": "scalar-right"}
"""The layouts that operands give which may be a Scalar."""


class Descriptor:
    """What to compute. Subclasses name their operands and validate; values are equal if all their parts are.

    op          : name of the row, "-" for a family without ops
    specs       : a TensorSpec or Scalar for each of `operands`, in that order, the output last
    attributes  : values in the row's order
    """

    family: ClassVar[str]
    """The name of the family, the first part of its cells."""
    operands: ClassVar[tuple[str, ...]]
    """The keywords of a launch, inputs first, the output last."""
    inplace: ClassVar[tuple[str, ...]] = ()
    """The inputs whose very memory, offset, shape and strides the output may share."""
    updates: ClassVar[tuple[str, ...]] = ()
    """The operands before the output that a launch reads and writes."""
    defaults: ClassVar[Mapping[str, Number]] = MappingProxyType({})
    """The Scalars that a launch may leave out, and what they are then."""
    inspects: ClassVar[tuple[str, ...]] = ()
    """The tensors whose contents have limits, which EP_VALIDATE=1 checks before a launch: see `check_contents`."""

    op: str
    specs: tuple[TensorSpec | Scalar, ...]
    attributes: tuple[float, ...]
    _hash: int
    _geometry: Geometry | None
    _key: KernelKey | None

    __slots__ = ("_geometry", "_hash", "_key", "attributes", "op", "specs")

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        keep_and_explain(cls)

    def _freeze(self, op: str, specs: tuple[TensorSpec | Scalar, ...], attributes: tuple[float, ...] = ()) -> None:
        """Fill this value, once, at the end of a subclass's __init__ and after its validation."""
        place = object.__setattr__
        place(self, "op", op)
        place(self, "specs", specs)
        place(self, "attributes", attributes)
        place(self, "_geometry", None)
        place(self, "_key", None)
        place(self, "_hash", hash((type(self), op, specs, attributes)))

    @property
    def title(self) -> str:
        """What messages call the operation: its op, or the family where that has none."""
        return self.family if self.op == "-" else self.op

    @property
    def written(self) -> tuple[str, ...]:
        """The names of the operands that a launch writes: those it updates, and the output."""
        return (*self.updates, self.operands[-1])

    @property
    def out(self) -> TensorSpec:
        """The output's spec."""
        return self.specs[-1]  # type: ignore[return-value]  # the output is never a Scalar

    @property
    def geometry(self) -> Geometry:
        """The merged iteration space; what a kernel loops over."""
        geometry = self._geometry
        if geometry is None:
            geometry = merge(self.out, self.specs)
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def key(self) -> KernelKey:
        """The kernel key: equal keys share compiled code."""
        key = self._key
        if key is None:
            key = self._make_key()
            object.__setattr__(self, "_key", key)
        return key

    @property
    def compute(self) -> str:
        """The type that values are computed in: the compute type of the first operand."""
        return DTYPES[self.specs[0].dtype].compute

    @property
    def compares_elements(self) -> bool:
        """True if numbers of a launch are rounded as the elements beside them are, before they are held in the compute type."""
        return False

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell, as far as specs show it (never "inplace")."""
        out, geometry = self.out, self.geometry
        tensors = [spec for spec in self.specs if isinstance(spec, TensorSpec)]
        if not out.size:
            return "empty"
        for name, spec in zip(self.operands, self.specs, strict=True):
            if name in _SIDES and isinstance(spec, Scalar):
                return _SIDES[name]
        if any(tensor.lo for tensor in tensors):
            return "offset"
        if any(tensor.shape != out.shape for tensor in tensors):
            return "broadcast"
        if not out.shape:
            return "rank0"
        return "dense" if geometry.is_dense else "strided"

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell."""
        names = [spec.dtype for spec in self.specs]
        return f"{self.family}/{self.op}/{dtypes_name(names[:-1], names[-1])}/{self.layout}"

    @property
    def nbytes_moved(self) -> int:
        """The bytes that any implementation has to read and write, each operand once."""
        return sum(_nbytes_touched(spec) for spec in self.specs)

    @property
    def flops(self) -> int:
        """The operations of the definition, one an output element unless the family says otherwise."""
        return self.out.size

    def check_numbers(self, numbers: tuple[Any, ...]) -> None:
        """Raise ValueError, naming the operand, for numbers of a launch that the operation is not defined for.

        numbers : of the Scalar operands, in operand order, in their compute types

        A family whose numbers have no limits but those of their types does not override it, and launches do not call it.
        """

    def check_contents(self, contents: Mapping[str, Any]) -> None:
        """Raise ValueError, naming operand and place, for contents that the operation is not meant for.

        contents : for each of `inspects` a NumPy array of the operand's shape, as the launch would find it

        Called in validation mode alone, before the launch is enqueued; without it such contents do what the family says.
        """

    def lower(self) -> Descriptor | None:
        """Return the same computation in terms of another family, tried when a provider has nothing for this one.

        Its operands have the same names in the same order, and the same elements of the same memories.
        """
        return None

    def on(self, device: Device) -> Primitive:
        """Return the primitive for this descriptor on a device: an implementation that accepted it, compiled.

        Made once and cached on the device. Raises UnsupportedError with the reason of every implementation asked,
        CompileError if device code does not compile, ClosedError on a closed device, TypeError for what is no device.
        """
        try:
            primitives = device._primitives
        except AttributeError:
            message = f"{self.family}.on: device is {glimpse(device)}, needs a Device; ep.device('cpu:0') finds one"
            raise TypeError(message) from None
        return primitives.get(self)

    def _make_key(self) -> KernelKey:
        geometry = self.geometry
        return kernel_key(
            self,
            is_dense=geometry.is_dense,
            size=geometry.size,
            inner=geometry.shape[-1] if geometry.shape else 1,
            outer=[
                (spec, strides[:-1])
                for spec, strides in zip(self.specs, geometry.strides, strict=True)
                if isinstance(spec, TensorSpec)
            ],
        )

    def __setattr__(self, name: str, value: object) -> None:
        message = f"{type(self).__name__} is frozen; make a new one instead of setting {name}"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, Descriptor):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.op == other.op
            and self.specs == other.specs
            and self.attributes == other.attributes
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        parts = [] if self.op == "-" else [repr(self.op)]
        parts += [f"{name}={spec!r}" for name, spec in zip(self.operands, self.specs, strict=True)]
        parts += [f"attributes={self.attributes}"] if self.attributes else []
        return f"{type(self).__name__}({', '.join(parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.op, self.specs, self.attributes)


def _nbytes_touched(spec: TensorSpec | Scalar) -> int:
    if isinstance(spec, Scalar):
        return 0
    if spec.is_dense:
        return spec.size * spec.itemsize
    seen = 1
    for extent, stride in zip(spec.shape, spec.strides, strict=True):
        seen *= extent if stride or not extent else 1
    return seen * spec.itemsize


def _restore(
    kind: type[Descriptor], op: str, specs: tuple[TensorSpec | Scalar, ...], attributes: tuple[float, ...]
) -> Descriptor:
    value = kind.__new__(kind)
    value._freeze(op, specs, attributes)
    return value
