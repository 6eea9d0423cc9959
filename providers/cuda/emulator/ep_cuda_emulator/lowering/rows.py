"""Blocks whose threads do not wait for each other: a loop over rows of threads, and over the threads of a row.

Where all accesses of global memory grow evenly from thread to thread, a row is looked at as a whole: if every access of its first
to its last thread lies in one allocation, a loop without checks runs it, which LLVM may vectorise. Threads of a grid have no order, so
neither have the accesses of different threads. Any other row, such as the last one of a tensor, goes thread by thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering import memory
from ep_cuda_emulator.lowering.rules import RULES
from ep_cuda_emulator.lowering.writer import Writer
from ep_cuda_emulator.ptx.instruction import Declaration, Instruction, Label, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep_cuda_emulator.lowering.affine import Rows
    from ep_cuda_emulator.lowering.place import Place

__all__ = ["address_writer", "by_block"]

_FEWEST: Final = 8
"""Threads of a row that is looked at as a whole."""


def by_block(rows: Rows | None) -> str:
    """Return the function that runs a block of @ENTRY, which @ep.entry.row runs without checks if there are rows."""
    return _BLOCKS + (_row(rows) if rows else _THREADS)


def address_writer(
    found: Sequence[Declaration | Label | Scope | Instruction], rows: Rows, places: Mapping[str, Place]
) -> Writer:
    """Return the body of @ep.entry.addresses, which writes a thread's address of each access behind %addresses."""
    writer = Writer(places)
    order = {i: place for place, i in enumerate(rows.strides)}
    for number, each in enumerate(found):
        if isinstance(each, Scope):
            (writer.open_scope if each.is_open else writer.close_scope)()
        elif isinstance(each, Declaration) and each.words[0] == ".reg":
            writer.declare_registers(each.words)
        elif isinstance(each, Instruction) and number in rows.slice:
            RULES[each.parts[0]](writer, each)
        elif isinstance(each, Instruction) and each in order:
            address = memory.address_of(writer, each.operands[0 if each.parts[0] == "st" else 1])
            place = writer.value(f"getelementptr i64, ptr %addresses, i64 {order[each]}")
            writer.emit(f"store i64 {address}, ptr {place}")
    writer.end("ret void")
    return writer


def _row(rows: Rows) -> str:
    looks = (
        _LOOK.format(place=place, before=place - 1, stride=stride, nbytes=memory.nbytes_of(i))
        for place, (i, stride) in enumerate(rows.strides.items())
    )
    count = len(rows.strides)
    return _ROWS.format(
        count=count, last=count - 1, fewest=_FEWEST, looks="".join(looks), pointers=", ".join(rows.pointers())
    )


_BLOCKS: Final = """
define void @ep_run(ptr %block) {
entry:
  %nx = call i32 @ep.field(ptr %block, i32 0)
  %ny = call i32 @ep.field(ptr %block, i32 1)
  %nz = call i32 @ep.field(ptr %block, i32 2)
  br label %planes
planes:
  %z = phi i32 [ 0, %entry ], [ %z1, %plane ]
  br label %rows
rows:
  %y = phi i32 [ 0, %planes ], [ %y1, %rows ]
  call void @ep.row(ptr %block, i32 %nx, i32 %y, i32 %z)
  %y1 = add nuw i32 %y, 1
  %more = icmp ult i32 %y1, %ny
  br i1 %more, label %rows, label %plane
plane:
  %z1 = add nuw i32 %z, 1
  %rest = icmp ult i32 %z1, %nz
  br i1 %rest, label %planes, label %done
done:
  ret void
}

define internal void @ep.threads(ptr %block, i32 %nx, i32 %y, i32 %z) alwaysinline {
entry:
  br label %threads
threads:
  %x = phi i32 [ 0, %entry ], [ %x1, %threads ]
  call void @ENTRY(ptr %block, ptr null, i32 %x, i32 %y, i32 %z)
  %x1 = add nuw i32 %x, 1
  %again = icmp ult i32 %x1, %nx
  br i1 %again, label %threads, label %done
done:
  ret void
}
"""

_THREADS: Final = """
define internal void @ep.row(ptr %block, i32 %nx, i32 %y, i32 %z) alwaysinline {
  call void @ep.threads(ptr %block, i32 %nx, i32 %y, i32 %z)
  ret void
}
"""

_LOOK: Final = """
  %at.{place} = getelementptr i64, ptr %firsts, i64 {place}
  %end.{place} = getelementptr i64, ptr %lasts, i64 {place}
  %start.{place} = load i64, ptr %at.{place}
  %last.{place} = load i64, ptr %end.{place}
  %first.{place} = call ptr @ep_row(i64 %start.{place}, i64 %last.{place}, i64 {stride}, i32 %x, i32 {nbytes})
  %found.{place} = icmp ne ptr %first.{place}, null
  %whole.{place} = and i1 %whole.{before}, %found.{place}
"""

_ROWS: Final = """
declare ptr @ep_row(i64, i64, i64, i32, i32)

define internal void @ep.row(ptr %block, i32 %nx, i32 %y, i32 %z) alwaysinline {{
entry:
  %firsts = alloca [{count} x i64]
  %lasts = alloca [{count} x i64]
  %few = icmp ult i32 %nx, {fewest}
  br i1 %few, label %each, label %look
look:
  %x = sub i32 %nx, 1
  call void @ep.entry.addresses(ptr %block, ptr null, i32 0, i32 %y, i32 %z, ptr %firsts)
  call void @ep.entry.addresses(ptr %block, ptr null, i32 %x, i32 %y, i32 %z, ptr %lasts)
  %whole.-1 = icmp ne i32 %nx, 0
{looks}
  br i1 %whole.{last}, label %threads, label %each
threads:
  %tx = phi i32 [ 0, %look ], [ %next, %threads ]
  call void @ep.entry.row(ptr %block, ptr null, i32 %tx, i32 %y, i32 %z, {pointers})
  %next = add nuw i32 %tx, 1
  %again = icmp ult i32 %next, %nx
  br i1 %again, label %threads, label %done, !llvm.loop !3
each:
  call void @ep.threads(ptr %block, i32 %nx, i32 %y, i32 %z)
  br label %done
done:
  ret void
}}

!2 = distinct !{{}}
!3 = distinct !{{!3, !4}}
!4 = !{{!"llvm.loop.parallel_accesses", !2}}
"""
