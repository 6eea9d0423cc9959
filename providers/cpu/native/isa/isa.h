// The instruction set that CMake names in EP_ISA, and the mathematics and types compiled for it. All later code is in
// an anonymous namespace: no function of one instruction set may be taken for one of another.
#pragma once

#include "math/quarter_turns.h"
#include "runtime/part.h"
#include "runtime/stream.h"
#include "runtime/unit.h"
#include "types/storage.h"

#define EP_TEXT_(x) #x
#define EP_TEXT(x) EP_TEXT_(x)

#include EP_TEXT(EP_ISA.h)

// The storage of an element type, for a row.
#define EP_STORAGE(...) &ep::EP_JOIN(EP_ISA, storages)[code_of<__VA_ARGS__>]
// The C++ type of a dtype.
#define EP_TYPE_(x) T_##x
#define EP_TYPE(x) EP_TYPE_(x)
// A row that uses the storages of its dtypes.
#define EP_ROW(family, op, T, R, enter, loop, body, code) \
    {family, op, EP_TEXT(T), EP_TEXT(R), enter, EP_STORAGE(EP_TYPE(T)), EP_STORAGE(EP_TYPE(R)), loop, body, code},

#include "types/dtypes.def"

namespace {
// clang-format off: each of these needs the ones above it
#include "math/vector_math.h"
#include "math/complex/number.h"
#include "types/types.h"
// clang-format on
}  // namespace
