// The rows of Copy. Compiled once per instruction set.
#include "copy.h"
#include "isa/isa.h"

namespace {

#define EP_COPY_ROW(T, ...) EP_ROW("copy", "-", T, T, ep_elementwise, ep::copy, nullptr, nullptr)

// clang-format off
const ep_row ROWS[] = {EP_STORED(EP_COPY_ROW, )};
// clang-format on

}  // namespace

EP_PART
