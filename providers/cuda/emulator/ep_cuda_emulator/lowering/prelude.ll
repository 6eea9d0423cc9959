; What each object begins with: checked addresses, fields of the block, NaNs, subnormals, bfloat16. Words behind a dollar are
; places in the library, and $given the arguments of an access.

declare ptr @ep_slow(ptr, ptr, i32, i32, i32, i64, i32, i32, i32) cold
declare void @ep_track(ptr, ptr, i32, i32, i32, i64, i32, i32, i32)

define internal i32 @ep.field(ptr %block, i32 %number) alwaysinline {
  %place = getelementptr i32, ptr %block, i32 %number
  %value = load i32, ptr %place, !invariant.load !0
  ret i32 %value
}

define internal ptr @ep.parameters(ptr %block) alwaysinline {
  %place = getelementptr i8, ptr %block, i64 $parameters
  %value = load ptr, ptr %place, !invariant.load !0
  ret ptr %value
}

define internal i64 @ep.window.shared() alwaysinline {
  ret i64 $shared_window
}

define internal i64 @ep.window.param() alwaysinline {
  ret i64 $param_window
}

define internal ptr @ep.global($given) alwaysinline {
  %offset = sub i64 %address, $base
  %granule = lshr i64 %offset, $granule_shift
  %number = call i64 @llvm.umin.i64(i64 %granule, i64 $granules)
  %slot = getelementptr i16, ptr inttoptr (i64 $table to ptr), i64 %number
  %extent = load i16, ptr %slot
  %wide = zext i16 %extent to i32
  %low = trunc i64 %offset to i32
  %inside = and i32 %low, $granule_mask
  %end = add i32 %inside, %nbytes
  %beyond = icmp ugt i32 %end, %wide
  %mask = sub i32 %nbytes, 1
  %rest = and i32 %inside, %mask
  %uneven = icmp ne i32 %rest, 0
  %bad = or i1 %beyond, %uneven
  br i1 %bad, label %slow, label %fast, !prof !1
fast:
  $tracked
  %store = add i64 %offset, $store
  %pointer = inttoptr i64 %store to ptr
  ret ptr %pointer
slow:
  %other = call ptr @ep_slow($given)
  ret ptr %other
}

define internal ptr @ep.generic($given) alwaysinline {
  %offset = sub i64 %address, $base
  %end = icmp ult i64 %offset, $bytes
  br i1 %end, label %global, label %slow
global:
  %found = call ptr @ep.global($given)
  ret ptr %found
slow:
  %other = call ptr @ep_slow($given)
  ret ptr %other
}

define internal float @ep.flush.f32(float %x) alwaysinline {
  %size = call float @llvm.fabs.f32(float %x)
  %small = fcmp olt float %size, 0x3810000000000000
  %zero = call float @llvm.copysign.f32(float 0.0, float %x)
  %result = select i1 %small, float %zero, float %x
  ret float %result
}

define internal half @ep.flush.f16(half %x) alwaysinline {
  %bits = bitcast half %x to i16
  %exponent = and i16 %bits, 31744
  %small = icmp eq i16 %exponent, 0
  %zero = and i16 %bits, -32768
  %chosen = select i1 %small, i16 %zero, i16 %bits
  %result = bitcast i16 %chosen to half
  ret half %result
}

define internal float @ep.canonical.f32(float %x) alwaysinline {
  %unordered = fcmp uno float %x, %x
  %result = select i1 %unordered, float bitcast (i32 2147483647 to float), float %x
  ret float %result
}

define internal half @ep.canonical.f16(half %x) alwaysinline {
  %unordered = fcmp uno half %x, %x
  %bits = bitcast half %x to i16
  %chosen = select i1 %unordered, i16 32767, i16 %bits
  %result = bitcast i16 %chosen to half
  ret half %result
}

define internal i16 @ep.canonical.bf16(i16 %x) alwaysinline {
  %size = and i16 %x, 32767
  %unordered = icmp ugt i16 %size, 32640
  %result = select i1 %unordered, i16 32767, i16 %x
  ret i16 %result
}

define internal float @ep.wide.bf16(i16 %x) alwaysinline {
  %wide = zext i16 %x to i32
  %bits = shl i32 %wide, 16
  %result = bitcast i32 %bits to float
  ret float %result
}

define internal i16 @ep.round.bf16(float %x) alwaysinline {
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
}

!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 100000}
