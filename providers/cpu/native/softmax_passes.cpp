// The passes of softmaxes over rows; compiled once per instruction set.
#include <algorithm>

#include "isa.h"
#include "softmax.h"

#define EP_LAMBDA __attribute__((always_inline))

namespace {
// clang-format off: each of these needs the ones above it
#include "lanes.h"
#include "logarithm.h"
#include "softmax_sums.h"
#include "softmax_ops.h"
// clang-format on

using ep::RowForm;

#include "softmax_columns.h"
#include "softmax_rows.h"

template <template <class, class> class Passes, class T>
constexpr ep::Softmaxes of = {Passes<Softmax<T>, T>::value, Passes<LogSoftmax<T>, T>::value,
                              Passes<SoftmaxBackward<T>, T>::value, Passes<LogSoftmaxBackward<T>, T>::value};

}  // namespace

#define EP_SOFTMAXES_OF EP_JOIN(EP_ISA, softmaxes)
const ep::Softmaxes ep::EP_SOFTMAXES_OF[2][2] = {
    {of<RowPasses, float>, of<RowPasses, double>},
    {of<ColumnPasses, float>, of<ColumnPasses, double>},
};
