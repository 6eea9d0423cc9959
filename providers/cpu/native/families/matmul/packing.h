// How the factors of a Matmul become panels: strided elements of any type in, rows of the type that sums are kept in
// out. A complex product is a real one of twice the depth: (re, im) of a row of a meets the rows (re, im) and (-im, re)
// of b.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "types/storage.h"

namespace ep {

// A part of a matrix that is packed: `width` runs over rows of a, or columns of b, `depth` over the terms of a sum.
struct Factor {
    const ep_storage* storage;
    const char* at;
    int64_t width_step, depth_step;
    int64_t width, depth;
    bool is_conjugate;
};

template <class T>
struct Parts {
    T re, im;
};

// How an element S is stored in panels of T: how many places in width and in depth it takes, and their values.
template <class S, class T>
struct RealElement {
    using Stored = S;
    using Sum = T;
    static constexpr int widths = 1, depths = 1;
    static void put(S x, T* at, int64_t, bool) { *at = static_cast<T>(x); }
};
template <class T>
struct LeftElement {
    using Stored = Parts<T>;
    using Sum = T;
    static constexpr int widths = 1, depths = 2;
    static void put(Parts<T> z, T* at, int64_t columns, bool is_conjugate) {
        at[0] = z.re;
        at[columns] = is_conjugate ? -z.im : z.im;
    }
};
template <class T>
struct RightElement {
    using Stored = Parts<T>;
    using Sum = T;
    static constexpr int widths = 2, depths = 2;
    static void put(Parts<T> z, T* at, int64_t columns, bool is_conjugate) {
        const T im = is_conjugate ? -z.im : z.im;
        at[0] = z.re;
        at[1] = im;
        at[columns] = -im;
        at[columns + 1] = z.re;
    }
};

// Pack into panels of `columns` places a step of the depth; the rest of the last panel becomes zero.
template <class Element>
void pack(const Factor& factor, typename Element::Sum* panels, int columns) {
    using S = typename Element::Stored;
    alignas(LINE) char block[BLOCK * 16];
    const int64_t each = columns / Element::widths, size = factor.depth * Element::depths * columns;
    const auto place = [&](int64_t w) { return panels + w / each * size + w % each * Element::widths; };
    if (factor.width % each != 0) {
        auto* const last = panels + factor.width / each * size;
        for (int64_t i = 0; i < size; ++i) last[i] = 0;
    }
    // Along the smaller stride, because that way a cache line is used at once.
    if (std::abs(factor.width_step) <= std::abs(factor.depth_step)) {
        for (int64_t d = 0; d < factor.depth; ++d) {
            const auto* x = static_cast<const S*>(
                factor.storage->load(factor.at + d * factor.depth_step, factor.width_step, factor.width, block));
            for (int64_t w = 0; w < factor.width; w += each, x += each) {
                auto* const at = place(w) + d * Element::depths * columns;
                const int64_t count = factor.width - w < each ? factor.width - w : each;
                for (int64_t i = 0; i < count; ++i)
                    Element::put(x[i], at + i * Element::widths, columns, factor.is_conjugate);
            }
        }
    } else {
        for (int64_t w = 0; w < factor.width; ++w) {
            const auto* const x = static_cast<const S*>(
                factor.storage->load(factor.at + w * factor.width_step, factor.depth_step, factor.depth, block));
            auto* const at = place(w);
            for (int64_t d = 0; d < factor.depth; ++d)
                Element::put(x[d], at + d * Element::depths * columns, columns, factor.is_conjugate);
        }
    }
}

}  // namespace ep
