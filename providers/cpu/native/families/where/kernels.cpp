// The rows of Where: bits of one of two elements, chosen by a third. Compiled once per instruction set; element types
// of one size share a loop.
#include "isa/isa.h"
#include "where.h"

namespace {

#include "types/block.h"

struct Pair {
    uint64_t halves[2];
};

// The unsigned integer of as many bytes; its storage moves bits unchanged.
template <size_t size>
struct BitsOf;
template <>
struct BitsOf<1> {
    using type = uint8_t;
    static constexpr int code = EP_uint8;
};
template <>
struct BitsOf<2> {
    using type = uint16_t;
    static constexpr int code = EP_uint16;
};
template <>
struct BitsOf<4> {
    using type = uint32_t;
    static constexpr int code = EP_uint32;
};
template <>
struct BitsOf<8> {
    using type = uint64_t;
    static constexpr int code = EP_uint64;
};
template <>
struct BitsOf<16> {
    using type = Pair;
    static constexpr int code = EP_complex128;
};

// An element that stays where it is, in a register.
template <class U>
struct Same {
    U value;
    EP_INLINE U operator[](int64_t) const { return value; }
};

// In place is exact, so no iteration depends on another.
template <class C, class A, class B, class U>
EP_INLINE void choose(const C* condition, A a, B b, U* out, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        const U x = a[i], y = b[i];
        out[i] = condition[i] != 0 ? x : y;
    }
}

template <class C, class A, class B>
EP_INLINE void choose(const C* condition, A a, B b, Pair* out, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t mask = condition[i] != 0 ? ~uint64_t{0} : 0;
        const Pair x = a[i], y = b[i];
        for (int k = 0; k < 2; ++k) out[i].halves[k] = (x.halves[k] & mask) | (y.halves[k] & ~mask);
    }
}

// One of the two inputs: blocks of it as they lie in memory, or gathered; one element that stays is repeated once.
template <class U>
class Source {
   public:
    Source(const char* at, int64_t step, int64_t n) : at_(at), step_(step) {
        if (step == 0) contiguous(at, step, n < ep::BLOCK ? n : ep::BLOCK, block_);
    }

    const U* elements(int64_t i, int64_t n) {
        return step_ == 0 ? block_ : contiguous(at_ + i * step_, step_, n, block_);
    }

   private:
    const char* const at_;
    const int64_t step_;
    U block_[ep::BLOCK];
};

// Not inlined: the short way would pay for its blocks in each call.
template <class C, size_t size>
EP_HALVES __attribute__((noinline)) void staged_select(char* const* at, const int64_t* step, int64_t n,
                                                       bool is_streaming) {
    using U = typename BitsOf<size>::type;
    int64_t a = 1, b = 2;
    if (step[0] == 0) a = b = *reinterpret_cast<const C*>(at[0]) != 0 ? 1 : 2;
    Target out(ep::EP_JOIN(EP_ISA, storages)[BitsOf<size>::code], at[3], step[3], is_streaming);
    Source<C> condition(at[0], step[0], n);
    Source<U> left(at[a], step[a], n), right(at[b], step[b], n);
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        choose(condition.elements(i, m), left.elements(i, m), right.elements(i, m), static_cast<U*>(out.block()), m);
        out.flush(m);
    }
}

template <class C, size_t size>
EP_HALVES void select(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    using U = typename BitsOf<size>::type;
    constexpr int64_t item = size;
    const bool is_streaming = streams(geometry->traffic, geometry->operands, at, n);
    const auto lies = [&](int k) { return step[k] == item || (step[k] == 0 && step[3 - k] == item); };
    if (is_streaming || step[0] != int64_t{sizeof(C)} || !lies(1) || !lies(2) || step[3] != item)
        return staged_select<C, size>(at, step, n, is_streaming);
    const auto* const condition = reinterpret_cast<const C*>(at[0]);
    const auto *a = reinterpret_cast<const U*>(at[1]), *b = reinterpret_cast<const U*>(at[2]);
    auto* const out = reinterpret_cast<U*>(at[3]);
    if (step[1] == 0)
        choose(condition, Same<U>{*a}, b, out, n);
    else if (step[2] == 0)
        choose(condition, a, Same<U>{*b}, out, n);
    else
        choose(condition, a, b, out, n);
}

template <class T>
struct Condition {
    using type = T;
};
template <>
struct Condition<Boolean> {
    using type = uint8_t;
};

// The storages belong to the element type: they round numbers given at launch.
#define EP_WHERE_ROW(T, C)                          \
    {"where",                                       \
     "-",                                           \
     #C,                                            \
     #T,                                            \
     ep::where,                                     \
     EP_STORAGE(T_##T),                             \
     EP_STORAGE(T_##T),                             \
     select<Condition<T_##C>::type, sizeof(T_##T)>, \
     nullptr,                                       \
     nullptr},

// clang-format off
const ep_row ROWS[] = {EP_STORED(EP_WHERE_ROW, bool) EP_STORED(EP_WHERE_ROW, int32) EP_STORED(EP_WHERE_ROW, int64)};
// clang-format on

}  // namespace

EP_PART
