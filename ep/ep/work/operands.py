"""What all launches with equal roles share: the names and places of the operands, and the function that launches."""

from __future__ import annotations

import functools
import keyword
import linecache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep.layout.overlap import is_same
from ep.layout.role import NUMBER, OUTPUT
from ep.layout.spec import Scalar, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ep.layout.role import Roles
    from ep.work.descriptor import Descriptor

__all__ = ["ABSENT", "Operands", "operands_of"]

ABSENT: Final[Any] = object()
"""The value of a keyword that a launch was not given."""
_TAKEN: Final = {"self", "stream", "Exception", "AttributeError", "ValueError"}
"""Names that the text of a launch has for itself, beside those that begin with an underscore."""


class Operands(NamedTuple):
    """What all descriptors share that have equal roles and whose operands are alike tensors, numbers or absent.

    names     : names of the present operands
    tensors   : places of the present tensors among the specs
    outputs   : places of the present outputs among the specs
    absent    : places of absent tensors among a kernel's memories
    numbers   : name, place among the specs and default of each number of a kernel; an absent one has place -1
    may_share : the inputs and outputs, as places among the specs, that may be the very same memory
    call      : returns the `__call__` of a Primitive with such operands, which needs scratch or does not; None where there are
                none, or a name cannot be a parameter's
    """

    names: frozenset[str]
    tensors: tuple[int, ...]
    outputs: tuple[int, ...]
    absent: tuple[int, ...]
    numbers: tuple[tuple[str, int, Any], ...]
    may_share: tuple[tuple[int, int], ...]
    call: Callable[..., Callable[..., None] | None]

    def limits(self, descriptor: Descriptor) -> tuple[tuple[int, ...], int, tuple[bool, ...]]:
        """Return what `call` compares with: each tensor's nbytes, alignment less 1, and whether each of `may_share` may."""
        specs: Any = descriptor.specs
        tensors = [specs[place] for place in self.tensors]
        itemsize = 1  # the strictest operand's alignment stands for all; the long way knows each one's own
        for spec in tensors:
            if spec.itemsize > itemsize:  # noqa: PLR1730 - a call of max takes five times as long
                itemsize = spec.itemsize
        # Two operands may share one memory if they are the same tensor; the long way decides all other overlaps.
        in_place = tuple([is_same(specs[place], specs[target]) for place, target in self.may_share])
        return tuple([spec.nbytes for spec in tensors]), itemsize - 1, in_place


def operands_of(descriptor: Descriptor) -> Operands:
    """Return the Operands of a descriptor, made once for all descriptors like it."""
    return _operands_of(descriptor.roles, tuple(map(type, descriptor.specs)))


@functools.cache
def _operands_of(roles: Roles, kinds: tuple[type, ...]) -> Operands:
    named = [*enumerate(zip(roles, kinds, strict=True))]
    memories = [kind for _, (role, kind) in named if kind is not Scalar and role.use != NUMBER]
    may_share = tuple([pair for pair in _pairs(roles, kinds) if roles[pair[1]].name in roles[pair[0]].shares])
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
        functools.cache(functools.partial(_call, roles, kinds, may_share)),
    )


def _pairs(roles: Roles, kinds: tuple[type, ...]) -> Iterator[tuple[int, int]]:
    """Yield the places of every pair of tensors of which the second is written, each pair once."""
    tensors = [place for place, kind in enumerate(kinds) if kind is TensorSpec]
    for target in tensors:
        if roles[target].is_written:
            for place in tensors:
                if place < target or (place > target and not roles[place].is_written):
                    yield place, target


def _is_parameter(name: str) -> bool:
    is_name = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return is_name and name[0] != "_" and name not in _TAKEN


def _call(
    roles: Roles, kinds: tuple[type, ...], may_share: tuple[tuple[int, int], ...], *, needs_scratch: bool
) -> Callable[..., None] | None:
    """Return the `__call__` of primitives with these operands, None where a name cannot be a parameter's.

    It takes memories that are large and aligned enough at once. None may share bytes with a written one, but for in-place
    operands that a role allows. It is text written for the roles: a call of its own, loops and look-ups would be a
    quarter of a launch. All other launches take the primitive's long way, which accepts more and words the errors.
    The door checks that memories are open.
    """
    if not roles or not all(map(_is_parameter, roles.names)):
        return None
    text = "\n".join(_lines(roles, kinds, may_share, needs_scratch=needs_scratch))
    file = f"{__file__} <launch of {', '.join(roles.names)}>"  # in this folder: it is EP's, where errors name a user's line
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # for tracebacks and debuggers
    scope: dict[str, Any] = {"_ABSENT": ABSENT}
    exec(compile(text, file, "exec"), scope)  # noqa: S102 - a text of ours, and names that are parameters
    call: Any = scope["__call__"]
    call.__qualname__ = "Primitive.__call__"
    call.__kwdefaults__ = {role.name: _default(role.default, kind) for role, kind in zip(roles, kinds, strict=True)}
    return call  # type: ignore[no-any-return]


def _default(default: Any, kind: type) -> Any:
    """Return what stands for an operand that a launch leaves out."""
    if kind is Scalar and default is not None:
        return default
    return ABSENT if kind is TensorSpec or kind is Scalar else None


def _lines(
    roles: Roles, kinds: tuple[type, ...], may_share: tuple[tuple[int, int], ...], *, needs_scratch: bool
) -> Iterator[str]:
    """Yield the text of `__call__`, in which an operand is a local variable."""
    names = roles.names
    tensors = [place for place, kind in enumerate(kinds) if kind is TensorSpec]
    memories = _tuple(names[place] for place in tensors)
    numbers = [role.name for role, kind in zip(roles, kinds, strict=True) if kind is Scalar or role.use == NUMBER]
    scalars = "_numbers" if numbers else "()"
    yield f"def __call__(self, stream, *, {', '.join(names)}, **_more):"
    yield "    try:"
    yield f"        {_tuple(f'_nbytes_{names[place]}' for place in tensors)} = self._nbytes"
    for place in tensors:
        if roles[place].is_written:
            yield f"        _space_{names[place]} = {names[place]}._block.target"
    yield "        if not ("
    yield "            stream.device is self.device"
    for place in tensors:
        yield f"            and {names[place]}.nbytes >= _nbytes_{names[place]}"
    offsets = [f"{names[place]}.offset" for place in tensors]  # nearly always 0, which needs no arithmetic
    yield f"            and not (({' or '.join(offsets)}) and ({' | '.join(offsets)}) & self._odd)"
    for place, target in _pairs(roles, kinds):
        name, written = names[place], names[target]
        apart = f"{f'_space_{name}' if roles[place].is_written else f'{name}._space'} != _space_{written}"
        shared = (place, target) in may_share
        same = f" or ({name} is {written} and self._in_place[{may_share.index((place, target))}])" if shared else ""
        yield f"            and ({apart}{same})"
    for name, kind in zip(names, kinds, strict=True):
        if kind is Scalar:
            yield f"            and {name} is not _ABSENT"
        elif kind is not TensorSpec:
            yield f"            and {name} is None"
    yield "            and not _more"
    yield "        ):"
    yield "            raise ValueError"
    # A missing name, an argument that is no memory or no stream, or another library's array.
    yield "    except Exception:"
    yield "        pass"
    yield "    else:"
    if numbers:
        yield f"        _numbers = self._convert({_mapping(numbers)})"
    if needs_scratch:
        yield f"        self._launch_over_scratch(stream, {memories}, {scalars})"
    else:
        yield "        try:"
        yield f"            stream._submit(self, {memories}, {scalars}, self._launch)"
        yield "        except AttributeError:"
        yield "            self._require_stream(stream)"
        yield "            raise"
    yield "        return"
    yield f"    self._launch_at_length(stream, {_mapping(names)}, _more)"


def _tuple(names: Iterable[str]) -> str:
    return f"({''.join(f'{name}, ' for name in names)})"


def _mapping(names: Iterable[str]) -> str:
    return f"{{{', '.join(f'{name!r}: {name}' for name in names)}}}"
