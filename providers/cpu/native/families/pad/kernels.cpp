// The rows of Pad. Compiled once per instruction set, for their storages.
#include "isa/isa.h"
#include "pad.h"

namespace {

#define EP_PAD_ROW(T, op) EP_ROW("pad", op, T, T, ep::pad, nullptr, nullptr, nullptr)

// clang-format off
const ep_row ROWS[] = {
    EP_STORED(EP_PAD_ROW, "constant")
    EP_STORED(EP_PAD_ROW, "reflect")
    EP_STORED(EP_PAD_ROW, "edge")
    EP_STORED(EP_PAD_ROW, "circular")
};
// clang-format on

}  // namespace

EP_PART
