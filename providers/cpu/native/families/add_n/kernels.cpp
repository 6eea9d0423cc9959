// The rows of AddN: its plan names the row that adds, but 16-bit floats side by side are added in registers. Compiled
// once per instruction set.
#include "add_n.h"
#include "isa/isa.h"

#define EP_LAMBDA __attribute__((always_inline))

namespace {
// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "types/stored.h"
#include "types/pairs.h"
// clang-format on

#if EP_WIDTH > 16
// As many elements as are added at once, in the order of the terms: the bits of additions one after the other.
template <class T, class Load>
EP_INLINE Pair sum(int terms, Load load) {
    Pair sum = load(0);
    for (int k = 1; k < terms; ++k) {
        const Pair term = load(k);
        sum = {sum.first + term.first, sum.second + term.second};
    }
    return sum;
}

template <class T>
void add_terms(const char* const* at, int terms, void* out, int64_t n) {
    T* const to = static_cast<T*>(out);
    const auto term = [&](int k) EP_LAMBDA { return reinterpret_cast<const T*>(at[k]); };
    int64_t i = 0;
    for (; i + Pair::elements <= n; i += Pair::elements)
        store_pair(to + i, sum<T>(terms, [&](int k) EP_LAMBDA { return load_pair(term(k) + i); }));
    if (i == n) return;
    const auto rest = static_cast<size_t>(n - i) * sizeof(T);
    T last[Pair::elements] = {};
    store_pair(last, sum<T>(terms, [&](int k) EP_LAMBDA {
                   std::memcpy(last, term(k) + i, rest);
                   return load_pair(last);
               }));
    std::memcpy(to + i, last, rest);
}

template <class T>
constexpr ep::Adder ADDER = {add_terms<T>, EP_STORAGE(uint16_t)};
#endif

// Terms of 32 bits and more gain nothing: blocks of theirs are added where they lie.
template <class T>
constexpr const ep::Adder* adder() {
#if EP_WIDTH > 16
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return &ADDER<T>;
#endif
    return nullptr;
}

#define EP_ADD_N_ROW(T, ...) EP_ROW("add_n", "-", T, T, ep::add_n, nullptr, nullptr, adder<T_##T>())

// clang-format off
const ep_row ROWS[] = {EP_ALL(EP_ADD_N_ROW, )};
// clang-format on

}  // namespace

EP_PART
