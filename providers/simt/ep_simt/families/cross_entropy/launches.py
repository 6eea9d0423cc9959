"""Launches of CrossEntropy: what lies where, and how rows and their losses are shared among groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import ep
from ep_simt.families.softmax import passes
from ep_simt.families.softmax.cut import Cut
from ep_simt.families.softmax.passes import PassLaunches, untouched
from ep_simt.plan import Launch, Operand
from ep_simt.rows.geometry import packed_rows

if TYPE_CHECKING:
    from ep_primitives import CrossEntropy

    from ep_simt.target import Target

__all__ = ["Launches"]

_ROWS: Final = 4096
"""Of a CPU: rows that pay for a second group, and for the launch that joins the two; a GPU's work-items have one row each."""
_JOINED: Final = 64
"""Of a CPU: groups, whose sums the last launch joins."""
_JOINED_EACH: Final = 4
"""Of a GPU: the same for each work-item that joins them."""


class Launches(NamedTuple):
    """The launches of a descriptor.

    passes  : over rows of scores; None of logarithms, and where no class is
    packed  : the geometry: x, labels, out
    run     : losses of a group
    """

    loss: CrossEntropy
    target: Target
    passes: PassLaunches | None
    packed: bytes
    run: int

    @classmethod
    def of(cls, loss: CrossEntropy, target: Target) -> Self:
        """Return those of a descriptor."""
        x, labels, across = loss.x, loss.labels, loss.across
        shape = (*across.shape, x.shape[1])
        strides = [(*own, step) for own, step in zip(across.strides, (x.strides[1], 0, 0), strict=True)]
        packed = packed_rows(shape, strides, len(across.shape), wide=loss.key.wide)
        own = None
        if x.size and not loss.is_log:
            cut = Cut.of(shape, strides[:1], ep.dtype(loss.compute).itemsize, target)
            own = PassLaunches(loss.family, target, cut, labels.size, packed)
        return cls(loss, target, own, packed, _run(labels.size, target))

    @property
    def every(self) -> tuple[Launch, ...]:
        """The launches in their order."""
        own, every = self.passes, []
        if own:
            memories = (self._operand("x"), *self._measures)
            task = passes.WHOLE_ROWS if own.cut.pieces == 1 else passes.MEASURES
            every.append(own.rows(task, *memories))
            every += [own.totals(*self._measures)] if task == passes.MEASURES else []
        every.append(self._losses())
        every += [self._joined()] if self._joins and self._groups > 1 else []
        return tuple(every)

    @property
    def scratch_nbytes(self) -> int:
        """Bytes of measures, then of the sums of groups."""
        return (self._measured + 2 * self._groups) * self._itemsize

    def _losses(self) -> Launch:
        weights, ignored = self.loss.weights, self.loss.ignored
        operands = [self._operand(name) for name in ("x", "labels", "weights" if weights else "x", "out")]
        memories = (*operands, *self._measures[2:], *self._sums)
        numbers = (ignored or 0, weights.strides[0] if weights else 0, self.run)
        given = (self.passes is not None, ignored is not None, weights is not None)
        flags = map(int, (*given, self._joins, self._groups == 1, self._is_mean))
        return self._launch("losses", self._groups, *memories, *numbers, *flags, self.packed)

    def _joined(self) -> Launch:
        return self._launch("joined", 1, self._operand("out"), *self._sums, self._groups, int(self._is_mean))

    def _launch(self, part: str, groups: int, *given: Any) -> Launch:
        return Launch(f"{self.loss.family}_{part}", groups * self.target.group, self.target.group, given)

    def _operand(self, name: str) -> Operand:
        place = self.loss.roles.names.index(name)
        spec: Any = self.loss.specs[place]
        return Operand(place, spec.itemsize, spec.offset)

    @property
    def _scratch(self) -> int:
        """The number of the memory."""
        return len(self.loss.tensors)

    @property
    def _measures(self) -> tuple[Operand, ...]:
        if self.passes is None:
            return untouched(Operand(self._scratch, self._itemsize))
        return self.passes.measures(self._scratch, self._itemsize)

    @property
    def _measured(self) -> int:
        return self.passes.size if self.passes else 0

    @property
    def _sums(self) -> tuple[Operand, Operand]:
        """The losses of groups, and their weights."""
        first = Operand(self._scratch, self._itemsize, self._measured)
        return first, first._replace(offset=self._measured + self._groups)

    @property
    def _groups(self) -> int:
        return max(-(-self.loss.labels.size // self.run), 1)  # without labels the sums are of nothing

    @property
    def _joins(self) -> bool:
        return self.loss.reduction != "none"

    @property
    def _is_mean(self) -> bool:
        return self.loss.reduction == "mean"

    @property
    def _itemsize(self) -> int:
        return ep.dtype(self.loss.compute).itemsize


def _run(rows: int, target: Target) -> int:
    """Return the losses of a group."""
    if target.group == 1:
        return max(rows, 1) if rows <= _ROWS else -(-rows // _JOINED)
    return target.group * max(-(-rows // (target.group * target.group * _JOINED_EACH)), 1)
