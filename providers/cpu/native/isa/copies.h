// Copies of a few elements as they lie. Included once per instruction set, in an anonymous namespace, after
// isa/lanes.h.
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

// Every second lane of two vectors, of which the second one begins with the first one's last lane.
template <class W, size_t... lane>
EP_INLINE V<W> second_lanes(V<W> a, V<W> b, std::index_sequence<lane...>) {
    constexpr size_t lanes = sizeof...(lane);
#if defined(__clang__)
    return __builtin_shufflevector(a, b, int(lane < lanes / 2 ? 2 * lane : 2 * lane + 1)...);
#else
    return __builtin_shuffle(a, b, V<W>{W(lane < lanes / 2 ? 2 * lane : 2 * lane + 1)...});
#endif
}

// Every second element: vectors end with one of these, and the last begins before the one ahead ends.
template <class W>
EP_INLINE void copy_second(const W* from, int64_t n, W* to) {
    constexpr int lanes = Vector<W>::lanes;
    const auto copy = [&](int64_t i) {
        const V<W> a = load(from + 2 * i), b = load(from + 2 * i + lanes - 1);
        store(to + i, second_lanes<W>(a, b, std::make_index_sequence<size_t{lanes}>{}));
    };
    if (n < lanes) {
        typedef W Word __attribute__((may_alias));  // elements are of any type of this size
        for (int64_t i = 0; i < n; ++i) reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[2 * i];
        return;
    }
    for (int64_t i = 0; i + lanes < n; i += lanes) copy(i);
    copy(n - lanes);
}

// Every second lane of two vectors, from the first or the second one on.
template <class W, int phase, size_t... lane>
EP_INLINE W dealt_lanes(W a, W b, std::index_sequence<lane...>) {
#if defined(__clang__)
    return __builtin_shufflevector(a, b, int(2 * lane + phase)...);
#else
    return __builtin_shuffle(a, b, decltype(a < b){(2 * lane + phase)...});
#endif
}

// n elements to one place and n to another, in turn. The last vectors begin before the ones ahead end.
template <class W, int lanes>
EP_INLINE void deal(const W* from, int64_t n, W* even, W* odd) {
    typedef W Lanes __attribute__((vector_size(lanes * sizeof(W))));
    typedef W Unaligned __attribute__((vector_size(lanes * sizeof(W)), aligned(alignof(W)), may_alias));
    const auto copy = [&](int64_t i) {
        const Unaligned* const at = reinterpret_cast<const Unaligned*>(from + 2 * i);
        const Lanes a = at[0], b = at[1];
        constexpr std::make_index_sequence<size_t{lanes}> all{};
        *reinterpret_cast<Unaligned*>(even + i) = dealt_lanes<Lanes, 0>(a, b, all);
        *reinterpret_cast<Unaligned*>(odd + i) = dealt_lanes<Lanes, 1>(a, b, all);
    };
    if (n >= lanes) {
        for (int64_t i = 0; i + lanes < n; i += lanes) copy(i);
        return copy(n - lanes);
    }
    if constexpr (lanes > 2) return deal<W, lanes / 2>(from, n, even, odd);
    if (n == 1) even[0] = from[0], odd[0] = from[1];
}

template <class W>
EP_INLINE void copy_apart(const char* from, int64_t step, int64_t n, char* to) {
    if (step == 2 * int64_t{sizeof(W)})
        return copy_second(reinterpret_cast<const W*>(from), n, reinterpret_cast<W*>(to));
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
