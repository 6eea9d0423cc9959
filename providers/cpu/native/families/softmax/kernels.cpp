// The passes of softmaxes over rows; compiled once per instruction set.
#include <algorithm>

#include "isa/isa.h"
#include "passes.h"

#define EP_LAMBDA __attribute__((always_inline))

namespace {
// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "math/logarithm.h"
#include "math/sums.h"
#include "exponentials.h"
#include "ops.h"
// clang-format on

using ep::RowForm;

// clang-format off: columns.h needs the passes of rows.h
#include "rows.h"
#include "columns.h"
// clang-format on

template <class Op, class T>
constexpr ep::Softmaxes SOFTMAXES = {RowPasses<Op, T>::value, ColumnPasses<Op, T>::value};

#define EP_SOFTMAX_ROW_OF(T, family, Op, enter) \
    EP_ROW(family, "-", T, T, enter, nullptr, nullptr, (&SOFTMAXES<Op<Staged<T_##T>>, Staged<T_##T>>))
#define EP_SOFTMAX_ROW(T, family, Op) EP_SOFTMAX_ROW_OF(T, family, Op, ep::softmax)
#define EP_CROSS_ENTROPY_ROW(T, family, Op) EP_SOFTMAX_ROW_OF(T, family, Op, ep::cross_entropy)

// clang-format off
const ep_row ROWS[] = {
    EP_FLOATS(EP_SOFTMAX_ROW, "softmax", Softmax)
    EP_FLOATS(EP_SOFTMAX_ROW, "log_softmax", LogSoftmax)
    EP_FLOATS(EP_SOFTMAX_ROW, "softmax_backward", SoftmaxBackward)
    EP_FLOATS(EP_SOFTMAX_ROW, "log_softmax_backward", LogSoftmaxBackward)
    EP_FLOATS(EP_CROSS_ENTROPY_ROW, "cross_entropy", LogSoftmax)
};
// clang-format on

}  // namespace

EP_PART
