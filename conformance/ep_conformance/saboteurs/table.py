"""Which case kills which saboteur: what the tests of the suite assert, and what its report of itself prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_conformance.saboteurs import (
    callbacks,
    determinism,
    events,
    graphs,
    memories,
    moves,
    pools,
    random,
    rows,
    streams,
    transfers,
    types,
    values,
)
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
    Saboteur("wavers-by-an-ulp", determinism.WaversByAnUlp, "primitives/elementwise_unary/elu/float32/dense/size-17"),
    Saboteur(
        "computes-tails-apart", determinism.ComputesTailsApart, "primitives/elementwise_unary/elu/float32/dense/size-17"
    ),
    Saboteur(
        "sums-the-last-row-backwards",
        determinism.SumsTheLastRowBackwards,
        "primitives/reduce/sum/float32/dense/one-sign",
    ),
    Saboteur("truncates-sums", determinism.TruncatesSums, "primitives/reduce/sum/float32/dense/one-sign"),
    Saboteur("truncates-products", determinism.TruncatesProducts, "primitives/matmul/-/float32/dense/one-sign"),
    Saboteur("clamps-indices", moves.ClampsIndices, "primitives/gather/-/float32,int32->float32/dense/edges"),
    Saboteur(
        "counts-indices-from-the-end",
        moves.CountsIndicesFromTheEnd,
        "primitives/gather/-/float32,int64->float32/dense/edges",
    ),
    Saboteur(
        "multiplies-by-the-mask",
        moves.MultipliesByTheMask,
        "primitives/gather/-/float32,int32->float32/dense/edges",
    ),
    Saboteur(
        "counts-classes-from-the-end", moves.CountsClassesFromTheEnd, "primitives/one_hot/-/int32->int8/dense/edges"
    ),
    Saboteur("repeats-the-border", moves.RepeatsTheBorder, "primitives/pad/reflect/float32/dense/line"),
    Saboteur("takes-one-for-true", moves.TakesOneForTrue, "primitives/where/-/bool,float32->float32/dense/conditions"),
    Saboteur("permutes-backwards", moves.PermutesBackwards, "primitives/permute/-/float32/dense/rank-3-1-2-0"),
    Saboteur("finds-the-last-of-ties", rows.FindsTheLastOfTies, "primitives/arg_reduce/max/float32->int64/dense/ties"),
    Saboteur(
        "zeroes-rows-of-minus-infinity",
        rows.ZeroesRowsOfMinusInfinity,
        "primitives/softmax/-/float32/dense/special-rows",
    ),
    Saboteur(
        "maximum-of-nothing-is-zero",
        rows.MaximumOfNothingIsZero,
        "primitives/reduce/max/float32/empty/no-terms",
    ),
    Saboteur("takes-the-first-zero", rows.TakesTheFirstZero, "primitives/reduce/max/float32/dense/signed-zeros"),
    Saboteur(
        "shares-terms-among-threads",
        rows.SharesTermsAmongThreads,
        "primitives/reduce/sum/float32/dense/one-sign",
    ),
    Saboteur("scales-many-rows", rows.ScalesManyRows, "primitives/softmax/-/float32/dense/rows"),
    Saboteur("rounds-each-term", rows.RoundsEachTerm, "primitives/add_n/-/float16/dense/one-sign-of-64"),
    Saboteur("draws-the-same-again", random.DrawsTheSameAgain, "runtime/random/launches-draw-new-numbers"),
    Saboteur("counts-elements", random.CountsElements, "primitives/random_fill/uniform/float64/dense/size-17"),
    Saboteur("begins-with-a-block", random.BeginsWithABlock, "primitives/random_fill/words/uint32/dense/at-word-1"),
    Saboteur("numbers-by-memory", random.NumbersByMemory, "primitives/random_fill/words/uint32/strided/transposed-out"),
    Saboteur("reads-the-state-early", random.ReadsTheStateEarly, "runtime/random/state-advances-in-stream-order"),
    Saboteur("ignores-wait", events.IgnoresWait, "runtime/event/wait-orders-kernels"),
    Saboteur("holds-kernels-alone", events.HoldsKernelsAlone, "runtime/event/wait-orders-uploads"),
    Saboteur("reports-events-early", events.ReportsEventsEarly, "runtime/event/done-means-done"),
    Saboteur("records-elsewhere", events.RecordsElsewhere, "runtime/program/streams-and-events"),
    Saboteur("reuses-events", events.ReusesEvents, "runtime/program/streams-and-events"),
    Saboteur("times-in-milliseconds", events.TimesInMilliseconds, "runtime/event/time-is-of-the-device-and-in-seconds"),
    Saboteur("times-the-enqueue", events.TimesTheEnqueue, "runtime/event/time-is-of-the-device-and-in-seconds"),
    Saboteur("synchronizes-at-once", streams.SynchronizesAtOnce, "runtime/stream/synchronize-means-done"),
    Saboteur("closes-at-once", streams.ClosesAtOnce, "runtime/stream/close-waits-for-the-work"),
    Saboteur(
        "abandons-dropped-streams",
        streams.AbandonsDroppedStreams,
        "runtime/lifetime/streams-dropped-with-work-under-way-finish",
    ),
    Saboteur("abandons-timed-out-streams", streams.AbandonsTimedOutStreams, "runtime/stream/timeout-leaves-it-usable"),
    Saboteur("calls-at-once", callbacks.CallsAtOnce, "runtime/program/callbacks"),
    Saboteur("calls-without-waiting", callbacks.CallsWithoutWaiting, "runtime/program/callbacks"),
    Saboteur("calls-backwards", callbacks.CallsBackwards, "runtime/program/callbacks"),
    Saboteur(
        "reads-uploads-late", transfers.ReadsUploadsLate, "runtime/transfer/upload-is-over-when-its-event-is-done"
    ),
    Saboteur("drops-host-buffers", transfers.DropsHostBuffers, "runtime/transfer/upload-keeps-its-buffer-alive"),
    Saboteur("downloads-late", transfers.DownloadsLate, "runtime/transfer/download-is-complete-when-its-event-is-done"),
    Saboteur("fills-whole-lines", transfers.FillsWholeLines, "runtime/fill/pattern-of-1-byte"),
    Saboteur("restarts-patterns", transfers.RestartsPatterns, "runtime/fill/pattern-of-16-bytes"),
    Saboteur("copies-out-of-order", transfers.CopiesOutOfOrder, "runtime/copy/is-ordered-with-its-stream"),
    Saboteur("drops-views-in-copies", transfers.DropsViewsInCopies, "runtime/program/views-and-copies"),
    Saboteur("copies-between-devices-at-once", transfers.CopiesBetweenDevicesAtOnce, "runtime/program/devices"),
    Saboteur(
        "copies-through-a-small-buffer",
        transfers.CopiesThroughASmallBuffer,
        "runtime/copy/large-ranges-are-moved-to-the-end",
    ),
    Saboteur("counts-looks", memories.CountsLooks, "runtime/ability/native-calls"),
    Saboteur("overlaps-allocations", memories.OverlapsAllocations, "runtime/memory/allocations-are-disjoint"),
    Saboteur("hides-out-of-memory", memories.HidesOutOfMemory, "runtime/error/out-of-memory-is-reported"),
    Saboteur("shares-arguments", graphs.SharesArguments, "runtime/primitive/bound-steps-keep-their-own-arguments"),
    Saboteur("drops-the-last-node", graphs.DropsTheLastNode, "runtime/graph/random-programs-replay"),
    Saboteur("moves-fills-forward", graphs.MovesFillsForward, "runtime/graph/random-programs-replay"),
    Saboteur("keeps-old-bindings", graphs.KeepsOldBindings, "runtime/graph/slots-not-given-keep-the-captured-memory"),
    Saboteur("shares-bindings", graphs.SharesBindings, "runtime/graph/bindings-of-launches-under-way-do-not-mix"),
    Saboteur("is-idle-early", streams.IsIdleEarly, "runtime/stream/held-back-is-not-idle"),
    Saboteur("ignores-other-devices", events.IgnoresOtherDevices, "runtime/program/devices"),
    Saboteur("lets-the-host-wait", events.LetsTheHostWait, "runtime/wait/host-that-enqueues-it-goes-on"),
    Saboteur("calls-twice", callbacks.CallsTwice, "runtime/call/runs-once-and-in-order"),
    Saboteur(
        "swallows-errors", callbacks.SwallowsErrors, "runtime/call/exception-is-raised-by-the-next-synchronisation"
    ),
    Saboteur("repeats-errors", callbacks.RepeatsErrors, "runtime/call/exception-is-raised-by-the-next-synchronisation"),
    Saboteur("miscounts-errors", callbacks.MiscountsErrors, "runtime/call/exception-names-its-place"),
    Saboteur("promises-more-than-there-is", memories.PromisesMoreThanThereIs, "runtime/ability/memory-info"),
    Saboteur("shows-the-host-a-copy", memories.ShowsTheHostACopy, "runtime/ability/pinned-memory"),
    Saboteur("reuses-at-once", pools.ReusesAtOnce, "runtime/program/allocations"),
    Saboteur("offers-to-everyone", pools.OffersToEveryone, "runtime/program/allocations"),
    Saboteur("gives-twice", pools.GivesTwice, "runtime/program/streams-and-events"),
    Saboteur("counts-up-only", pools.CountsUpOnly, "runtime/injection/nth-allocation-fails"),
)  # fmt: skip - a table reads in rows


def table_lines() -> Iterator[str]:
    """Yield the table, one saboteur a line: name, defect, the case that kills it."""
    for saboteur in SABOTEURS:
        yield f"{saboteur.name:<29} {saboteur.defect:<105} {saboteur.killed_by}"
