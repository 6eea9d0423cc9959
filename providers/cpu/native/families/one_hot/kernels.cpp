// The rows of OneHot. Compiled once per instruction set, for their storages.
#include "isa/isa.h"
#include "one_hot.h"

namespace {

#define EP_ONE_HOT_ROW(T, index) EP_ROW("one_hot", "-", index, T, ep::one_hot, nullptr, nullptr, nullptr)

// clang-format off
const ep_row ROWS[] = {EP_STORED(EP_ONE_HOT_ROW, int32) EP_STORED(EP_ONE_HOT_ROW, int64)};
// clang-format on

}  // namespace

EP_PART
