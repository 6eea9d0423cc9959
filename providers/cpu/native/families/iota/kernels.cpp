// The rows of Iota: start + i step, of at most a block of places. Compiled once per instruction set.
#include "iota.h"
#include "isa/isa.h"

namespace {

#include "math/arithmetic.h"

// Integers wrap. Floats are computed in double, in which float's products are exact as far as places have 29 bits.
template <class S>
void iota_body(const void* numbers, const void* where, void* out, int64_t n, const double*, int) {
    const auto* const given = static_cast<const ep::IotaNumbers*>(numbers);
    const auto places = *static_cast<const ep::Places*>(where);
    S start, step;
    std::memcpy(&start, given->start, sizeof start);
    std::memcpy(&step, given->step, sizeof step);
    S* const to = static_cast<S*>(out);
    if constexpr (is_integer<S>) {
        const Word<S> first = raw(start) + static_cast<Word<S>>(places.first) * raw(step);
        const Word<S> by = static_cast<Word<S>>(places.by) * raw(step);
        for (int64_t i = 0; i < n; ++i) to[i] = static_cast<S>(first + static_cast<Word<S>>(i) * by);
    } else {
        const double first = static_cast<double>(places.first), by = static_cast<double>(places.by);
        const double from = static_cast<double>(start), factor = static_cast<double>(step);
        for (int32_t i = 0; i < static_cast<int32_t>(n); ++i)
            to[i] = static_cast<S>(from + (first + static_cast<double>(i) * by) * factor);
    }
}

#define EP_IOTA_ROW(T, ...) EP_ROW("iota", "-", T, T, ep::iota, ep::iota_loop, iota_body<Staged<T_##T>>, nullptr)

// clang-format off
const ep_row ROWS[] = {EP_REALS(EP_IOTA_ROW, )};
// clang-format on

}  // namespace

EP_PART
