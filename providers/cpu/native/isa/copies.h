// Copies of a few elements as they lie. Included once per instruction set, in an anonymous namespace, after isa/isa.h.
#pragma once

// Lines are short: a call would cost as much as the copy. The last vector begins before the one ahead ends.
template <int64_t width>
EP_INLINE void copy_bytes(const char* from, int64_t n, char* to) {
    if (n >= width) {
        for (int64_t i = 0; i + width < n; i += width) std::memcpy(to + i, from + i, width);
        std::memcpy(to + n - width, from + n - width, width);
        return;
    }
    if constexpr (width > 1) copy_bytes<width / 2>(from, n, to);
}

template <class W>
EP_INLINE void copy_apart(const char* from, int64_t step, int64_t n, char* to) {
    typedef W Word __attribute__((may_alias));  // elements are of any type of this size
    if (step == 2 * int64_t{sizeof(W)}) {
        const Word* const there = reinterpret_cast<const Word*>(from);
        for (int64_t i = 0; i < n; ++i) reinterpret_cast<Word*>(to)[i] = there[2 * i];
        return;
    }
    for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * int64_t{sizeof(W)}, from + i * step, sizeof(W));
}

// n elements, `step` bytes apart.
EP_INLINE void copy_elements(const char* from, int64_t step, int64_t size, int64_t n, char* to) {
    if (step == size) return copy_bytes<EP_WIDTH>(from, n * size, to);
    switch (size) {
        case 1:
            return copy_apart<uint8_t>(from, step, n, to);
        case 2:
            return copy_apart<uint16_t>(from, step, n, to);
        case 4:
            return copy_apart<uint32_t>(from, step, n, to);
        default:
            return copy_apart<uint64_t>(from, step, n, to);
    }
}
