// Fields of bits, permutations of bytes, and atomic sums of floats.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "machine/exports.h"
#include "machine/rounding.h"

namespace {

template <class T>
std::uint64_t extracted(std::uint64_t word, std::uint32_t place, std::uint32_t length) {
    constexpr std::uint32_t BITS = sizeof(T) * 8;
    constexpr bool IS_SIGNED = T(-1) < T(0);
    place &= 255;
    length &= 255;
    if (!length) return 0;
    auto value = static_cast<T>(word);
    std::uint32_t sign_at = std::min(place + length - 1, BITS - 1);
    bool sign = IS_SIGNED && (static_cast<std::uint64_t>(value) >> sign_at & 1);
    std::uint64_t result = 0;
    for (std::uint32_t bit = 0; bit < BITS; ++bit) {
        bool is_inside = bit < length && place + bit < BITS;
        bool value_bit = is_inside ? static_cast<std::uint64_t>(value) >> (place + bit) & 1 : sign;
        result |= static_cast<std::uint64_t>(value_bit) << bit;
    }
    return result;
}

std::uint64_t inserted(std::uint64_t field, std::uint64_t word, std::uint32_t place, std::uint32_t length,
                       std::uint32_t bits) {
    place &= 255;
    length &= 255;
    for (std::uint32_t bit = 0; bit < length && place + bit < bits; ++bit) {
        std::uint64_t one = std::uint64_t{1} << (place + bit);
        word = field >> bit & 1 ? word | one : word & ~one;
    }
    return word;
}

std::uint32_t byte_of(std::uint64_t both, std::uint32_t chosen, bool may_repeat_sign = true) {
    auto byte = static_cast<std::uint32_t>(both >> (chosen & 7) * 8) & 255;
    return may_repeat_sign && chosen & 8 ? (byte & 128 ? 255 : 0) : byte;
}

std::uint32_t permuted(std::uint32_t a, std::uint32_t b, const std::uint32_t chosen[4]) {
    std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    std::uint32_t result = 0;
    for (int place = 0; place < 4; ++place) result |= byte_of(both, chosen[place]) << place * 8;
    return result;
}

std::uint16_t half_sum(std::uint16_t a, std::uint16_t b) {
    return static_cast<std::uint16_t>(rounded(wide_f16(a) + wide_f16(b), F16, NEAREST_EVEN));
}

std::uint16_t brain_sum(std::uint16_t a, std::uint16_t b) {
    return static_cast<std::uint16_t>(rounded(wide_bf16(a) + wide_bf16(b), BF16, NEAREST_EVEN));
}

template <class T, class Sum>
T atomic_sum(T* place, Sum sum) {
    std::atomic_ref<T> word(*place);
    T old = word.load();
    while (!word.compare_exchange_weak(old, sum(old))) {
    }
    return old;
}

float flushed(float value) {
    return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
}

template <std::uint16_t (*sum)(std::uint16_t, std::uint16_t)>
std::uint32_t pair_sum(std::uint32_t a, std::uint32_t b) {
    auto low = sum(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
    auto high = sum(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16));
    return static_cast<std::uint32_t>(high) << 16 | low;
}

}  // namespace

extern "C" {

std::uint64_t ep_bfe_u32(std::uint64_t word, std::uint32_t place, std::uint32_t length) {
    return extracted<std::uint32_t>(word, place, length);
}
EXPORT(ep_bfe_u32);
std::uint64_t ep_bfe_s32(std::uint64_t word, std::uint32_t place, std::uint32_t length) {
    return extracted<std::int32_t>(word, place, length);
}
EXPORT(ep_bfe_s32);
std::uint64_t ep_bfe_u64(std::uint64_t word, std::uint32_t place, std::uint32_t length) {
    return extracted<std::uint64_t>(word, place, length);
}
EXPORT(ep_bfe_u64);
std::uint64_t ep_bfe_s64(std::uint64_t word, std::uint32_t place, std::uint32_t length) {
    return extracted<std::int64_t>(word, place, length);
}
EXPORT(ep_bfe_s64);
std::uint64_t ep_bfi_32(std::uint64_t field, std::uint64_t word, std::uint32_t place, std::uint32_t length) {
    return inserted(field, word, place, length, 32);
}
EXPORT(ep_bfi_32);
std::uint64_t ep_bfi_64(std::uint64_t field, std::uint64_t word, std::uint32_t place, std::uint32_t length) {
    return inserted(field, word, place, length, 64);
}
EXPORT(ep_bfi_64);

std::uint32_t ep_prmt(std::uint32_t a, std::uint32_t b, std::uint32_t chosen) {
    const std::uint32_t four[4] = {chosen & 15, chosen >> 4 & 15, chosen >> 8 & 15, chosen >> 12 & 15};
    return permuted(a, b, four);
}
EXPORT(ep_prmt);
#define PERMUTATION(name, first, second, third, fourth)                               \
    std::uint32_t ep_prmt_##name(std::uint32_t a, std::uint32_t b, std::uint32_t c) { \
        std::uint32_t n = c & 3;                                                      \
        const std::uint32_t four[4] = {first, second, third, fourth};                 \
        return permuted(a, b, four);                                                  \
    }                                                                                 \
    EXPORT(ep_prmt_##name);
PERMUTATION(f4e, n, n + 1, n + 2, n + 3)
PERMUTATION(b4e, n, (n - 1) & 7, (n - 2) & 7, (n - 3) & 7)
PERMUTATION(rc8, n, n, n, n)
PERMUTATION(ecl, n, std::max(n, 1u), std::max(n, 2u), 3)
PERMUTATION(ecr, 0, std::min(n, 1u), std::min(n, 2u), n)
PERMUTATION(rc16, (n & 1) * 2, (n & 1) * 2 + 1, (n & 1) * 2, (n & 1) * 2 + 1)

std::uint32_t ep_bmsk_clamp(std::uint32_t place, std::uint32_t length) {
    std::uint64_t ones = (std::uint64_t{1} << std::min(length, 32u)) - 1;
    return place >= 32 ? 0 : static_cast<std::uint32_t>(ones << place);
}
EXPORT(ep_bmsk_clamp);
std::uint32_t ep_bmsk_wrap(std::uint32_t place, std::uint32_t length) {
    std::uint64_t ones = (std::uint64_t{1} << (length & 31)) - 1;
    return static_cast<std::uint32_t>(ones << (place & 31));
}
EXPORT(ep_bmsk_wrap);
#define EXTENSION(name, count)                                                       \
    std::uint32_t ep_szext_##name##_u32(std::uint32_t word, std::uint32_t length) {  \
        return static_cast<std::uint32_t>(extracted<std::uint32_t>(word, 0, count)); \
    }                                                                                \
    std::uint32_t ep_szext_##name##_s32(std::uint32_t word, std::uint32_t length) {  \
        return static_cast<std::uint32_t>(extracted<std::int32_t>(word, 0, count));  \
    }                                                                                \
    EXPORT(ep_szext_##name##_u32);                                                   \
    EXPORT(ep_szext_##name##_s32);
EXTENSION(clamp, std::min(length, 32u))
EXTENSION(wrap, length & 31)

// The place of the n-th set bit from a base, upwards or downwards; all ones if there is none.
std::uint32_t ep_fns(std::uint32_t mask, std::uint32_t base, std::uint32_t which) {
    auto left = static_cast<std::int32_t>(which);
    int step = left < 0 ? -1 : 1;
    if (left == 0) return mask >> (base & 31) & 1 ? base : ~0u;
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && (left -= step) == 0) return static_cast<std::uint32_t>(at);
    return ~0u;
}
EXPORT(ep_fns);

// Global memory's unit knows no subnormals; shared memory's does.
std::uint32_t ep_atomic_add_f32(std::uint32_t* place, std::uint32_t value, std::uint32_t is_shared) {
    auto own = std::bit_cast<float>(value);
    return atomic_sum(place, [=](std::uint32_t old) {
        auto other = std::bit_cast<float>(old);
        return std::bit_cast<std::uint32_t>(is_shared ? other + own : flushed(flushed(other) + flushed(own)));
    });
}
EXPORT(ep_atomic_add_f32);
std::uint16_t ep_atomic_add_f16(std::uint16_t* place, std::uint16_t value) {
    return atomic_sum(place, [=](std::uint16_t old) { return half_sum(old, value); });
}
EXPORT(ep_atomic_add_f16);
std::uint16_t ep_atomic_add_bf16(std::uint16_t* place, std::uint16_t value) {
    return atomic_sum(place, [=](std::uint16_t old) { return brain_sum(old, value); });
}
EXPORT(ep_atomic_add_bf16);
std::uint32_t ep_atomic_add_f16x2(std::uint32_t* place, std::uint32_t value) {
    return atomic_sum(place, [=](std::uint32_t old) { return pair_sum<half_sum>(old, value); });
}
EXPORT(ep_atomic_add_f16x2);
std::uint32_t ep_atomic_add_bf16x2(std::uint32_t* place, std::uint32_t value) {
    return atomic_sum(place, [=](std::uint32_t old) { return pair_sum<brain_sum>(old, value); });
}
EXPORT(ep_atomic_add_bf16x2);
}
