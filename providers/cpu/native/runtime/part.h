// How a source puts its rows into the table.
#pragma once

#include "native.h"

#define EP_JOIN_(a, b) a##_##b
#define EP_JOIN(a, b) EP_JOIN_(a, b)

#define EP_PART_OF(name, rows)                               \
    namespace ep {                                           \
    extern const ep_part name;                               \
    const ep_part name = {rows, sizeof rows / sizeof *rows}; \
    }
// ROWS as a part of the table of one instruction set: that which CMake names in EP_GROUP.
#define EP_PART EP_PART_OF(EP_JOIN(EP_JOIN(EP_ISA, EP_GROUP), part), ROWS)
// ROWS as a part of every table.
#define EP_SHARED_PART(name) EP_PART_OF(EP_JOIN(shared, EP_JOIN(name, part)), ROWS)
