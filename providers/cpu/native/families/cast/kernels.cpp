// Casts between all element types. Compiled once per instruction set.
#include "families/elementwise/elementwise.h"
#include "isa/isa.h"

namespace {

#include "conversion.h"

#define EP_CAST_ROW(R, T, family, body)          \
    {family,                                     \
     "-",                                        \
     #T,                                         \
     #R,                                         \
     ep_elementwise,                             \
     EP_STORAGE(Conversion<T_##T, T_##R>::From), \
     EP_STORAGE(Conversion<T_##T, T_##R>::To),   \
     ep::unary,                                  \
     Conversion<T_##T, T_##R>::body,             \
     nullptr},
#define EP_CAST_ROWS(T) EP_STORED(EP_CAST_ROW, T, "cast", body) EP_FLOAT8(EP_CAST_ROW, T, "saturating_cast", saturating)

// clang-format off
const ep_row ROWS[] = {EP_EACH_SOURCE(EP_CAST_ROWS)};
// clang-format on

}  // namespace

EP_PART
