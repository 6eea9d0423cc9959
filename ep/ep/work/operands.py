"""The checks that every launch pays for: one comparison a fact for launches that are right, words for the others."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from ep.layout.overlap import is_same
from ep.layout.role import NUMBER, OUTPUT
from ep.layout.spec import Scalar, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep.layout.role import Roles
    from ep.memory.memory import Memory
    from ep.stream.device import Device
    from ep.work.descriptor import Descriptor
    from ep.work.primitive import Primitive

    Check = Callable[[Primitive, Any, dict[str, Any]], tuple[Memory, ...]]

__all__ = ["Operands", "operands_of"]


class Operands(NamedTuple):
    """The launch checks of all descriptors with equal roles whose operands are alike tensors, numbers or absent.

    names     : names of the present operands
    tensors   : places of the present tensors among the specs
    outputs   : places of the present outputs among the specs
    absent    : places of absent tensors among a kernel's memories
    numbers   : name, place among the specs and default of each number of a kernel; an absent one has place -1
    may_share : the inputs and outputs, as places among the specs, that may be the very same memory
    make      : takes a device, the alignment less 1, each tensor's nbytes, and whether each of `may_share` may; returns the check
    """

    names: frozenset[str]
    tensors: tuple[int, ...]
    outputs: tuple[int, ...]
    absent: tuple[int, ...]
    numbers: tuple[tuple[str, int, Any], ...]
    may_share: tuple[tuple[int, int], ...]
    make: Callable[..., Check]

    def checker(self, descriptor: Descriptor, device: Device) -> Check:
        """Return the function that checks a launch's stream and operands and returns the memories of the tensors.

        Its short way accepts memories that are large and aligned enough. None may share bytes with a written one, but
        for in-place operands that a role allows. It is code generated for the roles, without loops and repeated
        look-ups:
        0.2 us instead of 0.6. All other launches take the primitive's long way, which accepts more and words the
        errors. The door checks that memories are open and on the stream's device.
        """
        specs: Any = descriptor.specs
        tensors = [specs[place] for place in self.tensors]
        # The strictest operand's alignment stands for all; the long way knows each one's own.
        odd = max([spec.itemsize for spec in tensors]) - 1
        # Two operands may share one memory if they are the same tensor; the long way decides all other overlaps.
        in_place = [is_same(specs[place], specs[target]) for place, target in self.may_share]
        return self.make(device, odd, [spec.nbytes for spec in tensors], in_place)


def operands_of(descriptor: Descriptor) -> Operands:
    """Return the Operands of a descriptor, made once for all descriptors like it."""
    return _operands_of(descriptor.roles, tuple(map(type, descriptor.specs)))


@functools.cache
def _operands_of(roles: Roles, kinds: tuple[type, ...]) -> Operands:
    named = [*enumerate(zip(roles, kinds, strict=True))]
    memories = [kind for _, (role, kind) in named if kind is not Scalar and role.use != NUMBER]
    may_share = tuple([pair for pair in _pairs(roles, kinds) if roles[pair[1]].name in roles[pair[0]].shares])
    scope: dict[str, Any] = {}
    exec("\n".join(_lines(roles, kinds, may_share)), scope)  # noqa: S102 - a text of ours, and names by their repr
    return Operands(
        frozenset([role.name for _, (role, kind) in named if kind is TensorSpec or kind is Scalar]),
        tuple([place for place, (_, kind) in named if kind is TensorSpec]),
        tuple([place for place, (role, kind) in named if kind is TensorSpec and role.use == OUTPUT]),
        tuple([place for place, kind in enumerate(memories) if kind is not TensorSpec]),
        tuple(
            [
                (role.name, place if kind is Scalar else -1, role.default)
                for place, (role, kind) in named
                if kind is Scalar or role.use == NUMBER
            ]
        ),
        may_share,
        scope["make"],
    )


def _pairs(roles: Roles, kinds: tuple[type, ...]) -> Iterator[tuple[int, int]]:
    """Yield the places of every pair of tensors of which the second is written, each pair once."""
    tensors = [place for place, kind in enumerate(kinds) if kind is TensorSpec]
    for target in tensors:
        if roles[target].is_written:
            for place in tensors:
                if place < target or (place > target and not roles[place].is_written):
                    yield place, target


def _lines(roles: Roles, kinds: tuple[type, ...], may_share: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Yield the text of `make`: the operand at place k is m<k>, its space s<k> if it is written."""
    tensors = [place for place, kind in enumerate(kinds) if kind is TensorSpec]
    yield "def make(device, odd, limits, in_place):"
    yield f"    {_tuple(f'n{place}' for place in tensors)} = limits"
    yield f"    {_tuple(f'may{place}_{target}' for place, target in may_share)} = in_place"
    yield "    def check(primitive, stream, operands):"
    yield "        try:"
    for place in tensors:
        yield f"            m{place} = operands[{roles[place].name!r}]"
    for place in tensors:
        if roles[place].is_written:
            yield f"            s{place} = m{place}._space"
    yield "            if ("
    yield "                stream.device is device"
    for place in tensors:
        yield f"                and m{place}.nbytes >= n{place}"
    yield f"                and not ({' | '.join(f'm{place}.offset' for place in tensors)}) & odd"
    for place, target in _pairs(roles, kinds):
        apart = f"{f's{place}' if roles[place].is_written else f'm{place}._space'} != s{target}"
        same = f" or (may{place}_{target} and m{place} is m{target})" if (place, target) in may_share else ""
        yield f"                and ({apart}{same})"
    yield from (f"                and {condition}" for condition in _keywords(roles, kinds))
    yield "            ):"
    yield f"                return {_tuple(f'm{place}' for place in tensors)}"
    # A missing name, an argument that is no memory or no stream, or another library's array.
    yield "        except Exception:"
    yield "            pass"
    yield "        return primitive._launchable(stream, operands)"
    yield "    return check"


def _keywords(roles: Roles, kinds: tuple[type, ...]) -> Iterator[str]:
    """Yield the conditions under which all keywords that are needed are given, and no others."""
    count, left_out = 0, []
    for role, kind in zip(roles, kinds, strict=True):
        if kind is Scalar and role.default is None:
            yield f"{role.name!r} in operands"
        elif kind is not TensorSpec:
            left_out.append(role.name)
            if kind is not Scalar:
                yield f"operands.get({role.name!r}) is None"
            continue
        count += 1
    yield " + ".join([f"len(operands) == {count}", *(f"({name!r} in operands)" for name in left_out)])


def _tuple(names: Iterator[str]) -> str:
    return f"({''.join(f'{name}, ' for name in names)})"
