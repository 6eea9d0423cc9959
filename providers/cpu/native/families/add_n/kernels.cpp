// The rows of AddN: its plan names the row that adds. Compiled once per instruction set.
#include "add_n.h"
#include "isa/isa.h"

namespace {

#define EP_ADD_N_ROW(T, ...) EP_ROW("add_n", "-", T, T, ep::add_n, nullptr, nullptr, nullptr)

// clang-format off
const ep_row ROWS[] = {EP_ALL(EP_ADD_N_ROW, )};
// clang-format on

}  // namespace

EP_PART
