// The rows of Fill. Compiled once per instruction set.
#include "fill.h"
#include "isa/isa.h"

namespace {

#define EP_FILL_ROW(T, ...) EP_ROW("fill", "-", T, T, ep_elementwise, ep::fill, nullptr, nullptr)

// clang-format off
const ep_row ROWS[] = {EP_STORED(EP_FILL_ROW, )};
// clang-format on

}  // namespace

EP_PART
