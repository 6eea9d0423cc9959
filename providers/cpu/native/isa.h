// The instruction set that CMake names in EP_ISA, and the mathematics and types compiled for it. What follows stands in
// an anonymous namespace: no function of one instruction set may be taken for one of another.
#pragma once

#include "parts.h"
#include "quarter_turns.h"
#include "storage.h"
#include "stream.h"

#define EP_TEXT_(x) #x
#define EP_TEXT(x) EP_TEXT_(x)
#define EP_JOIN_(a, b) a##_##b
#define EP_JOIN(a, b) EP_JOIN_(a, b)

#include EP_TEXT(EP_ISA.h)

// The storage of an element type, for a row.
#define EP_STORAGE(...) &ep::EP_JOIN(EP_ISA, storages)[code_of<__VA_ARGS__>]
// ROWS as this file's part of the table.
#define EP_PART(name) const ep_part ep::EP_JOIN(EP_JOIN(EP_ISA, name), part) = {ROWS, sizeof ROWS / sizeof *ROWS};

#include "dtypes.def"

namespace {
// clang-format off: each of these needs the ones above it
#include "vector_math.h"
#include "complex.h"
#include "types.h"
// clang-format on
}  // namespace
