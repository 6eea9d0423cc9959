"""A descriptor says what to compute, as a frozen value that knows no device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.dtypes import DTYPES
from ep.ground.glimpse import glimpse
from ep.layout.cells import dtypes_name
from ep.layout.dims import Geometry, merge
from ep.layout.role import NUMBER, OUTPUT
from ep.layout.spec import Scalar, TensorSpec
from ep.work.asked import keep_and_explain
from ep.work.key import KernelKey, kernel_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep.layout.role import Role, Roles
    from ep.memory.memory import Memory
    from ep.stream.device import Device
    from ep.work.primitive import Primitive
    from ep.work.stage import Stage

    Spec = TensorSpec | Scalar | None

__all__ = ["Descriptor"]

_SIDES: Final = {"a": "scalar-left", "b": "scalar-right"}
"""The layouts of descriptors some operand of which may be a Scalar."""


class Descriptor:
    """One computation. Subclasses name their operands and validate; descriptors are equal if all their parts are.

    op          : name of the row, "-" for a family without ops
    specs       : for each of `roles`, in that order, a TensorSpec, a Scalar, or None for an optional operand that is absent
    attributes  : values in the row's order
    """

    family: ClassVar[str]
    """The name of the family, the first part of its cells."""
    roles: ClassVar[Roles]
    """The roles of the operands. A property where they differ by instance, as in a sum of any number of terms."""

    op: str
    specs: tuple[TensorSpec | Scalar, ...]  # written without None, which few families have
    attributes: tuple[float, ...]
    _hash: int
    _geometry: Geometry | None
    _key: KernelKey | None

    __slots__ = ("_geometry", "_hash", "_key", "attributes", "op", "specs")

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        keep_and_explain(cls)

    def _freeze(self, op: str, specs: tuple[Spec, ...], attributes: tuple[float, ...] = ()) -> None:
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
        """The operation's name in messages: its op, or its family if the family has no ops."""
        return self.family if self.op == "-" else self.op

    @property
    def operands(self) -> tuple[str, ...]:
        """The keywords of a launch, those of absent operands too."""
        return self.roles.names

    @property
    def present(self) -> Mapping[str, TensorSpec | Scalar]:
        """The specs of the operands that are there, by name."""
        return {name: spec for name, spec in zip(self.operands, self.specs, strict=True) if spec is not None}

    @property
    def written(self) -> tuple[str, ...]:
        """The names of the operands that a launch writes: states and outputs."""
        return tuple([role.name for role, spec in self.tensors if role.is_written and spec is not None])

    @property
    def out(self) -> TensorSpec:
        """The spec of the output, of several the first."""
        return self.specs[self.roles.outputs[0]]  # type: ignore[return-value]  # see Roles.check_specs

    @property
    def outputs(self) -> Mapping[str, TensorSpec]:
        """The specs of the outputs that are there, by name."""
        roles, specs = self.roles, self.specs
        return {roles.names[place]: spec for place in roles.outputs if isinstance(spec := specs[place], TensorSpec)}

    @property
    def is_empty(self) -> bool:
        """True if no output has an element: then nothing runs."""
        specs = self.specs
        for place in self.roles.outputs:
            spec = specs[place]
            if type(spec) is TensorSpec and spec.size:
                return False
        return True

    @property
    def tensors(self) -> tuple[tuple[Role, TensorSpec | None], ...]:
        """The role and the spec of each of a kernel's memories; the spec is None for an absent tensor."""
        named = zip(self.roles, self.specs, strict=True)
        return tuple([(role, spec) for role, spec in named if _is_tensor(role, spec)])  # type: ignore[misc]  # no Scalar

    @property
    def numbers(self) -> tuple[tuple[Role, Scalar | None], ...]:
        """The role and the spec of each of a kernel's numbers; the spec is None for an absent number."""
        named = zip(self.roles, self.specs, strict=True)
        return tuple([(role, spec) for role, spec in named if not _is_tensor(role, spec)])  # type: ignore[misc]  # as above

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
        """The type that values are computed in: the compute type of the first operand that is there."""
        first = self.specs[0] or next(spec for spec in self.specs if spec is not None)
        return DTYPES[first.dtype].compute

    @property
    def compares_elements(self) -> bool:
        """True if a launch's numbers are rounded to the element type first, and only then held in the compute type."""
        return False

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell, as far as specs show it (never "inplace")."""
        out, geometry = self.out, self.geometry
        tensors = [spec for spec in self.specs if isinstance(spec, TensorSpec)]
        if self.is_empty:
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
        given = [
            spec.dtype
            for role, spec in zip(self.roles, self.specs, strict=True)
            if spec is not None and role.use != OUTPUT
        ]
        outputs = [spec.dtype for spec in self.outputs.values()]
        return f"{self.family}/{self.op}/{dtypes_name(given, *outputs)}/{self.layout}"

    @property
    def nbytes_moved(self) -> int:
        """The bytes that any implementation has to read and write, each operand once."""
        return sum([_nbytes_touched(spec) for spec in self.specs])

    @property
    def flops(self) -> int:
        """The number of operations by the definition: by default one for each element of the first output."""
        return self.out.size

    def check_numbers(self, numbers: tuple[Any, ...]) -> None:
        """Raise ValueError, naming the operand, for numbers of a launch that the operation is not defined for.

        numbers : of the Scalar operands, in operand order, in their compute types; None for an absent one

        A family whose numbers have no limits but those of their types does not override it, and launches do not call it.
        """

    def check_contents(self, contents: Mapping[str, Any]) -> None:
        """Raise ValueError, naming operand and place, for contents that the operation is not meant for.

        contents : for each role that is inspected, and is there, a NumPy array of the operand's shape, as the launch would find it

        Called in validation mode alone, before the launch is enqueued; without it such contents do what the family says.
        """

    def named(self, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> dict[str, Any]:
        """Return by keyword the operands that a kernel's launch gets, without the absent ones."""
        tensors, numbers = zip(self.tensors, memories, strict=False), zip(self.numbers, scalars, strict=True)
        return {role.name: given for (role, spec), given in (*tensors, *numbers) if spec is not None}

    def lower(self) -> Sequence[Stage]:
        """Return the same computation in terms of other families, tried when a provider has nothing for this one; () if there is none.

        The stages run in their order. A stage that reads a temporary reads what an earlier stage wrote. After the last
        stage all operands that the launch writes are written. See `ep.Stage`.
        """
        return ()

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
        geometry, specs = self.geometry, self.specs
        outer: list[tuple[TensorSpec, tuple[int, ...]]]
        if geometry.is_dense:  # over one dimension at most
            outer = [(spec, ()) for spec in specs if type(spec) is TensorSpec]
        else:
            named = zip(specs, geometry.strides, strict=True)
            outer = [(spec, strides[:-1]) for spec, strides in named if type(spec) is TensorSpec]
        return kernel_key(
            self,
            is_dense=geometry.is_dense,
            size=geometry.size,
            inner=geometry.shape[-1] if geometry.shape else 1,
            outer=outer,
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
        parts += [f"{name}={spec!r}" for name, spec in self.present.items()]
        parts += [f"attributes={self.attributes}"] if self.attributes else []
        return f"{type(self).__name__}({', '.join(parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.op, self.specs, self.attributes)


def _is_tensor(role: Role, spec: Spec) -> bool:
    """Say whether an operand stands among a kernel's memories, and not among its numbers."""
    return role.use != NUMBER and not isinstance(spec, Scalar)


def _nbytes_touched(spec: Spec) -> int:
    if type(spec) is not TensorSpec:
        return 0
    if spec.is_dense:
        return spec.size * spec.itemsize
    seen = 1
    for extent, stride in zip(spec.shape, spec.strides, strict=True):
        seen *= extent if stride or not extent else 1
    return seen * spec.itemsize


def _restore(kind: type[Descriptor], op: str, specs: tuple[Spec, ...], attributes: tuple[float, ...]) -> Descriptor:
    value = kind.__new__(kind)
    value._freeze(op, specs, attributes)
    return value
