// Everything that is compiled once per instruction set, and its table. The including file has set EP_ISA, EP_FMA,
// EP_ROUNDS, EP_F16C and the target.
#include "dtypes.def"

namespace {
// clang-format off: each of these needs the ones above it
#include "vector_math.h"
#include "half_type.h"
#include "arithmetic.h"
#if EP_F16C
#include "half_f16c.h"
#else
#include "half.h"
#endif
#include "bodies.h"
#include "loops.h"
// clang-format on

template <size_t nbytes>
using Unsigned =
    std::conditional_t<nbytes == 1, uint8_t,
                       std::conditional_t<nbytes == 2, uint16_t, std::conditional_t<nbytes == 4, uint32_t, uint64_t>>>;

#define EP_GIVES_SAME(T) T
#define EP_GIVES_BOOL(T) bool
#define EP_TEXT_(x) #x
#define EP_TEXT(x) EP_TEXT_(x)
#define EP_TYPE_(x) T_##x
#define EP_TYPE(x) EP_TYPE_(x)

#define EP_UNARY_ROW(T, op, result)                                       \
    {"elementwise_unary", #op, EP_TEXT(T), EP_TEXT(EP_GIVES_##result(T)), \
     unary<op_##op, EP_TYPE(T), EP_TYPE(EP_GIVES_##result(T))>},
#define EP_BINARY_ROW(T, op, result)                                     \
    {"broadcast_binary", #op, EP_TEXT(T), EP_TEXT(EP_GIVES_##result(T)), \
     binary<op_##op, EP_TYPE(T), EP_TYPE(EP_GIVES_##result(T))>},
#define EP_CAST_ROW(R, T, ...) {"cast", "-", EP_TEXT(T), EP_TEXT(R), unary<Cast<EP_TYPE(R)>, EP_TYPE(T), EP_TYPE(R)>},
#define EP_CAST_ROWS(T, ...) EP_ANY_SOURCE(EP_CAST_ROW, T)
#define EP_COPY_ROW(T, ...) {"copy", "-", EP_TEXT(T), EP_TEXT(T), copy<Unsigned<sizeof(EP_TYPE(T))>>},
#define EP_FILL_ROW(T, ...) {"fill", "-", EP_TEXT(T), EP_TEXT(T), fill<Unsigned<sizeof(EP_TYPE(T))>>},
#define EP_UNARY(op, dtypes, result) EP_##dtypes(EP_UNARY_ROW, op, result)
#define EP_BINARY(op, dtypes, result) EP_##dtypes(EP_BINARY_ROW, op, result)

// clang-format off
const ep_row ROWS[] = {
#include "unary.def"
#include "binary.def"
EP_ANY(EP_CAST_ROWS, ) EP_ANY(EP_COPY_ROW, ) EP_ANY(EP_FILL_ROW, )
};
// clang-format on

}  // namespace

#define EP_TABLE_(isa) isa##_table
#define EP_TABLE(isa) EP_TABLE_(isa)
const ep_table ep::EP_TABLE(EP_ISA) = {EP_TEXT(EP_ISA), ROWS, sizeof ROWS / sizeof *ROWS};
