// The loops of Attention over strips of scores; compiled once per instruction set.
#include <algorithm>

#include "attention.h"
#include "isa/isa.h"

#define EP_LAMBDA __attribute__((always_inline))

namespace {
// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "isa/squares.h"
#include "families/softmax/exponentials.h"
#include "families/matmul/products.h"
#include "strips.h"
// clang-format on

template <class T>
constexpr ep::Strips STRIPS = {multiply_scores<T>, share<T>, rescale<T>, finish<T>, choose<T>};

#define EP_ATTENTION_ROW(T, ...) \
    EP_ROW("attention", "-", T, T, ep::attention, nullptr, nullptr, (&STRIPS<Staged<T_##T>>))

// clang-format off
const ep_row ROWS[] = {
    EP_FLOATS(EP_ATTENTION_ROW, )
};
// clang-format on

}  // namespace

EP_PART
