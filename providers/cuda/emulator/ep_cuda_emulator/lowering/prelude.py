"""What each object begins with, in LLVM IR: checked addresses, fields of the block, NaNs, subnormals, bfloat16."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ep_cuda_emulator.layout import Layout

__all__ = ["prelude"]

_SELF = "ptr %block, ptr %thread, i32 %tx, i32 %ty, i32 %tz"
_ACCESS = f"{_SELF}, i64 %address, i32 %nbytes, i32 %access, i32 %line"
_GIVEN = "ptr %block, ptr %thread, i32 %tx, i32 %ty, i32 %tz, i64 %address, i32 %nbytes, i32 %access, i32 %line"


def prelude(layout: Layout, *, tracks_writes: bool) -> str:
    """Return the text; with `tracks_writes` each access is told to the library, which knows what was never written."""
    tracked = f"call void @ep_track({_GIVEN})" if tracks_writes else ""
    return f"""
declare ptr @ep_slow({_kinds(_ACCESS)}) cold
declare void @ep_track({_kinds(_ACCESS)})

define internal i32 @ep.field(ptr %block, i32 %number) alwaysinline {{
  %place = getelementptr i32, ptr %block, i32 %number
  %value = load i32, ptr %place, !invariant.load !0
  ret i32 %value
}}

define internal ptr @ep.parameters(ptr %block) alwaysinline {{
  %place = getelementptr i8, ptr %block, i64 {layout.parameters}
  %value = load ptr, ptr %place, !invariant.load !0
  ret ptr %value
}}

define internal i64 @ep.window.shared() alwaysinline {{
  ret i64 {layout.shared_window}
}}

define internal i64 @ep.window.param() alwaysinline {{
  ret i64 {layout.param_window}
}}

define internal ptr @ep.global({_ACCESS}) alwaysinline {{
  %offset = sub i64 %address, {layout.base}
  %granule = lshr i64 %offset, {layout.granule_shift}
  %number = call i64 @llvm.umin.i64(i64 %granule, i64 {layout.granules})
  %slot = getelementptr i16, ptr inttoptr (i64 {layout.table} to ptr), i64 %number
  %extent = load i16, ptr %slot
  %wide = zext i16 %extent to i32
  %low = trunc i64 %offset to i32
  %inside = and i32 %low, {(1 << layout.granule_shift) - 1}
  %end = add i32 %inside, %nbytes
  %beyond = icmp ugt i32 %end, %wide
  %mask = sub i32 %nbytes, 1
  %rest = and i32 %inside, %mask
  %uneven = icmp ne i32 %rest, 0
  %bad = or i1 %beyond, %uneven
  br i1 %bad, label %slow, label %fast, !prof !1
fast:
  {tracked}
  %store = add i64 %offset, {layout.store}
  %pointer = inttoptr i64 %store to ptr
  ret ptr %pointer
slow:
  %other = call ptr @ep_slow({_GIVEN})
  ret ptr %other
}}

define internal ptr @ep.generic({_ACCESS}) alwaysinline {{
  %offset = sub i64 %address, {layout.base}
  %end = icmp ult i64 %offset, {layout.granules << layout.granule_shift}
  br i1 %end, label %global, label %slow
global:
  %found = call ptr @ep.global({_GIVEN})
  ret ptr %found
slow:
  %other = call ptr @ep_slow({_GIVEN})
  ret ptr %other
}}

define internal float @ep.flush.f32(float %x) alwaysinline {{
  %size = call float @llvm.fabs.f32(float %x)
  %small = fcmp olt float %size, 0x3810000000000000
  %zero = call float @llvm.copysign.f32(float 0.0, float %x)
  %result = select i1 %small, float %zero, float %x
  ret float %result
}}

define internal half @ep.flush.f16(half %x) alwaysinline {{
  %bits = bitcast half %x to i16
  %exponent = and i16 %bits, 31744
  %small = icmp eq i16 %exponent, 0
  %zero = and i16 %bits, -32768
  %chosen = select i1 %small, i16 %zero, i16 %bits
  %result = bitcast i16 %chosen to half
  ret half %result
}}

define internal float @ep.canonical.f32(float %x) alwaysinline {{
  %unordered = fcmp uno float %x, %x
  %result = select i1 %unordered, float bitcast (i32 2147483647 to float), float %x
  ret float %result
}}

define internal half @ep.canonical.f16(half %x) alwaysinline {{
  %unordered = fcmp uno half %x, %x
  %bits = bitcast half %x to i16
  %chosen = select i1 %unordered, i16 32767, i16 %bits
  %result = bitcast i16 %chosen to half
  ret half %result
}}

define internal i16 @ep.canonical.bf16(i16 %x) alwaysinline {{
  %size = and i16 %x, 32767
  %unordered = icmp ugt i16 %size, 32640
  %result = select i1 %unordered, i16 32767, i16 %x
  ret i16 %result
}}

define internal float @ep.wide.bf16(i16 %x) alwaysinline {{
  %wide = zext i16 %x to i32
  %bits = shl i32 %wide, 16
  %result = bitcast i32 %bits to float
  ret float %result
}}

define internal i16 @ep.round.bf16(float %x) alwaysinline {{
  %bits = bitcast float %x to i32
  %last = lshr i32 %bits, 16
  %odd = and i32 %last, 1
  %bias = add i32 %odd, 32767
  %sum = add i32 %bits, %bias
  %high = lshr i32 %sum, 16
  %rounded = trunc i32 %high to i16
  %unordered = fcmp uno float %x, %x
  %result = select i1 %unordered, i16 32767, i16 %rounded
  ret i16 %result
}}

!0 = !{{}}
!1 = !{{!"branch_weights", i32 1, i32 100000}}
"""


def _kinds(arguments: str) -> str:
    return ", ".join(argument.split(" ")[0] for argument in arguments.split(", "))
