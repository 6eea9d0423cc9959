// Short moves of elements, which a call of memcpy would dominate. Ranges are disjoint.
#pragma once

#include "native.h"

namespace ep {

// An element repeated over the widest element there is.
struct Pattern {
    char bytes[16];
};

struct Pair {
    uint64_t halves[2];
};

// Call with an unsigned integer of that many bytes; only its type matters.
template <class Function>
EP_INLINE void with_unsigned(int64_t size, Function function) {
    switch (size) {
        case 1:
            return function(uint8_t{});
        case 2:
            return function(uint16_t{});
        case 4:
            return function(uint32_t{});
        case 8:
            return function(uint64_t{});
        default:
            return function(Pair{});
    }
}

inline Pattern pattern_of(const char* element, int64_t size) {
    Pattern pattern;
    for (int64_t at = 0; at < int64_t{sizeof pattern}; at += size)
        std::memcpy(pattern.bytes + at, element, static_cast<size_t>(size));
    return pattern;
}

// Of n bytes, fewer than 16, by two moves that overlap.
EP_INLINE void copy_few(char* to, const char* from, int64_t n) {
    const auto halves = [&](auto word) {
        const int64_t size = sizeof word;
        decltype(word) first, last;
        std::memcpy(&first, from, sizeof word);
        std::memcpy(&last, from + n - size, sizeof word);
        std::memcpy(to, &first, sizeof word);
        std::memcpy(to + n - size, &last, sizeof word);
    };
    if (n >= 8)
        halves(uint64_t{});
    else if (n >= 4)
        halves(uint32_t{});
    else if (n >= 2)
        halves(uint16_t{});
    else if (n == 1)
        *to = *from;
}

// Of n bytes, at least `half` and at most twice as many, by two moves that overlap.
template <int64_t half>
EP_INLINE void copy_halves(char* to, const char* from, int64_t n) {
    std::memcpy(to, from, half);
    std::memcpy(to + n - half, from + n - half, half);
}

EP_INLINE void copy_bytes(char* to, const char* from, int64_t n) {
    if (n < 16) return copy_few(to, from, n);
    if (n <= 32) return copy_halves<16>(to, from, n);
    if (n <= 64) return copy_halves<32>(to, from, n);
    if (n <= 128) return copy_halves<64>(to, from, n);
    std::memcpy(to, from, static_cast<size_t>(n));
}

// Bytes from which on `rep stos` fills as fast as anything: it makes lines its own without reading them.
constexpr int64_t LONG_FILL = 1024;

// n is a multiple of the element's size. Without an instruction for it, what is filled first is copied over the rest.
EP_INLINE void fill_bytes(char* to, const Pattern& pattern, int64_t n) {
    constexpr int64_t SIZE = sizeof pattern, FIRST = 4096;
    if (n < SIZE) return copy_few(to, pattern.bytes, n);
#if EP_X86
    Pair pair;
    std::memcpy(&pair, pattern.bytes, sizeof pair);
    if (n >= LONG_FILL && pair.halves[0] == pair.halves[1]) {
        std::memcpy(to + n / 8 * 8, pattern.bytes, static_cast<size_t>(n % 8));
        int64_t words = n / 8;
        __asm__ __volatile__("rep stosq" : "+D"(to), "+c"(words) : "a"(pair.halves[0]) : "memory");
        return;
    }
#endif
    const int64_t first = n < FIRST ? n : FIRST;
    for (int64_t i = 0; i < first - SIZE; i += SIZE) std::memcpy(to + i, pattern.bytes, SIZE);
    std::memcpy(to + first - SIZE, pattern.bytes, SIZE);
    for (int64_t i = first; i < n; i += FIRST)
        std::memcpy(to + i, to, static_cast<size_t>(n - i < FIRST ? n - i : FIRST));
}

template <class U>
void copy_elements(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
    for (int64_t i = 0; i < n; ++i, from += from_step, to += to_step)
        *reinterpret_cast<U*>(to) = *reinterpret_cast<const U*>(from);
}

}  // namespace ep
