"""Which case kills which saboteur: what the tests of the suite assert, and what its report of itself prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_conformance.saboteurs import ordering, random, types, values
from ep_conformance.saboteurs.provider import HonestProvider

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HONEST", "SABOTEURS", "Saboteur", "table_lines"]


class Saboteur(NamedTuple):
    """A planted defect and the case that must fail because of it.

    name       : of the provider that is installed for it
    killed_by  : case id
    """

    name: str
    provider: type[HonestProvider]
    killed_by: str

    @property
    def defect(self) -> str:
        """What is wrong with it, in a sentence."""
        return (self.provider.__doc__ or "").strip()


HONEST: Final = Saboteur("honest", HonestProvider, "")

SABOTEURS: Final = (
    Saboteur(
        "skips-the-last-element", values.SkipsTheLastElement, "primitives/elementwise_unary/relu/float32/dense/size-17"
    ),
    Saboteur("loses-nan", values.LosesNan, "primitives/broadcast_binary/max/float32/dense/special-values"),
    Saboteur(
        "loses-the-sign-of-zero",
        values.LosesTheSignOfZero,
        "primitives/elementwise_unary/negative/float32/dense/special-values",
    ),
    Saboteur(
        "ignores-attributes",
        values.IgnoresAttributes,
        "primitives/elementwise_unary/elu/float32/dense/designed-alpha-3",
    ),
    Saboteur("drops-view-offsets", values.DropsViewOffsets, "primitives/copy/-/float32/offset/shifted"),
    Saboteur(
        "ignores-negative-strides", values.IgnoresNegativeStrides, "primitives/copy/-/int32/strided/negative-strides"
    ),
    Saboteur("spoils-in-place", values.SpoilsInPlace, "primitives/broadcast_binary/add/float32/inplace/a"),
    Saboteur("rounds-exp-roughly", values.RoundsExpRoughly, "primitives/elementwise_unary/exp/float32/dense/designed"),
    Saboteur("ends-with-its-grid", values.EndsWithItsGrid, "runtime/primitive/large-launches-reach-the-end"),
    Saboteur(
        "walks-outputs-forwards",
        values.WalksOutputsForwards,
        "primitives/elementwise_unary/abs/int32/strided/every-third",
    ),
    Saboteur(
        "keeps-the-first-operands", values.KeepsTheFirstOperands, "primitives/cast/-/float32->int32/dense/size-17"
    ),
    Saboteur(
        "scalars-through-float32",
        values.ScalarsThroughFloat32,
        "primitives/broadcast_binary/sub/int32/scalar-right/scalar-16777217",
    ),
    Saboteur(
        "truncates-bfloat16",
        types.TruncatesBfloat16,
        "primitives/broadcast_binary/mul/bfloat16/dense/designed",
    ),
    Saboteur("wraps-casts", types.WrapsCasts, "primitives/cast/-/float32->uint8/dense/designed"),
    Saboteur("narrows-twice", types.NarrowsTwice, "primitives/cast/-/float64->bfloat16/dense/designed"),
    Saboteur(
        "divides-towards-zero", types.DividesTowardsZero, "primitives/broadcast_binary/floor_div/int8/dense/designed"
    ),
    Saboteur("conjugates-nothing", types.ConjugatesNothing, "primitives/matmul/-/complex64/dense/conjugate-a"),
    Saboteur("reads-out-at-beta-0", types.ReadsOutAtBetaZero, "primitives/matmul/-/float32/dense/beta-0-reads-nothing"),
    Saboteur("adds-beta-twice", types.AddsBetaTwice, "primitives/matmul/-/float32/broadcast/sum-to-a-matrix"),
    Saboteur("draws-the-same-again", random.DrawsTheSameAgain, "runtime/random/launches-draw-new-numbers"),
    Saboteur("counts-elements", random.CountsElements, "primitives/random_fill/uniform/float64/dense/size-17"),
    Saboteur("begins-with-a-block", random.BeginsWithABlock, "primitives/random_fill/words/uint32/dense/at-word-1"),
    Saboteur("numbers-by-memory", random.NumbersByMemory, "primitives/random_fill/words/uint32/strided/transposed-out"),
    Saboteur("reads-the-state-early", random.ReadsTheStateEarly, "runtime/random/state-advances-in-stream-order"),
    Saboteur("ignores-wait", ordering.IgnoresWait, "runtime/event/wait-orders-kernels"),
    Saboteur("holds-kernels-alone", ordering.HoldsKernelsAlone, "runtime/event/wait-orders-uploads"),
    Saboteur("reports-events-early", ordering.ReportsEventsEarly, "runtime/event/done-means-done"),
    Saboteur("reads-uploads-late", ordering.ReadsUploadsLate, "runtime/transfer/upload-is-over-when-its-event-is-done"),
    Saboteur("fills-whole-lines", ordering.FillsWholeLines, "runtime/fill/pattern-of-1-byte"),
    Saboteur("copies-out-of-order", ordering.CopiesOutOfOrder, "runtime/copy/is-ordered-with-its-stream"),
    Saboteur(
        "times-in-milliseconds", ordering.TimesInMilliseconds, "runtime/event/time-is-of-the-device-and-in-seconds"
    ),
    Saboteur("times-the-enqueue", ordering.TimesTheEnqueue, "runtime/event/time-is-of-the-device-and-in-seconds"),
    Saboteur("counts-looks", ordering.CountsLooks, "runtime/ability/native-calls"),
    Saboteur(
        "copies-through-a-small-buffer",
        ordering.CopiesThroughASmallBuffer,
        "runtime/copy/large-ranges-are-moved-to-the-end",
    ),
    Saboteur("overlaps-allocations", ordering.OverlapsAllocations, "runtime/memory/allocations-are-disjoint"),
    Saboteur("hides-out-of-memory", ordering.HidesOutOfMemory, "runtime/error/out-of-memory-is-reported"),
    Saboteur("shares-arguments", ordering.SharesArguments, "runtime/primitive/bound-steps-keep-their-own-arguments"),
)  # fmt: skip - a table reads in rows


def table_lines() -> Iterator[str]:
    """Yield the table, one saboteur a line: name, defect, the case that kills it."""
    for saboteur in SABOTEURS:
        yield f"{saboteur.name:<29} {saboteur.defect:<105} {saboteur.killed_by}"
