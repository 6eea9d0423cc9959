// The parts of every table: the groups of rows, which CMake reads here, and what has a source of its own.
#pragma once

#include "native.h"

// NAME.def each, compiled by kernels.cpp.
#define EP_GROUPS(X, isa)       \
    X(isa, activation)          \
    X(isa, activation_backward) \
    X(isa, arithmetic)          \
    X(isa, comparison)          \
    X(isa, complex)             \
    X(isa, complex_backward)    \
    X(isa, elementary)          \
    X(isa, math_backward)       \
    X(isa, special)
#define EP_PARTS(X, isa) EP_GROUPS(X, isa) X(isa, cast) X(isa, draw) X(isa, iota) X(isa, storage) X(isa, where)

namespace ep {

#define EP_DECLARE(isa, name) extern const ep_part isa##_##name##_part;
EP_PARTS(EP_DECLARE, baseline)
EP_PARTS(EP_DECLARE, avx2)
EP_PARTS(EP_DECLARE, avx512)
#undef EP_DECLARE

}  // namespace ep
