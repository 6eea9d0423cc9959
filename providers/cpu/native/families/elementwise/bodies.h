// Bodies: an op over contiguous elements. Included once per instruction set and group, in an anonymous namespace.
#pragma once

// In place is exact, so no iteration depends on another: ivdep is true.
template <class Op, class S, class R>
void body1(const void* x, const void*, void* out, int64_t n, const double* attributes, int) {
    const auto p = static_cast<Attribute<S>>(attributes[0]), q = static_cast<Attribute<S>>(attributes[1]);
    const S* const from = static_cast<const S*>(x);
    R* const to = static_cast<R*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = put<R>(Op::of(get(from[i]), p, q, attributes));
}

template <class Op, class S, class R>
void body2_of_both(const S* a, const S* b, R* out, int64_t n, const double* attributes) {
    const auto p = static_cast<Attribute<S>>(attributes[0]), q = static_cast<Attribute<S>>(attributes[1]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = put<R>(Op::of(get(a[i]), get(b[i]), p, q, attributes));
}

// A single operand is repeated in a block: one loop an op.
template <class Op, class S, class R>
void body2(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single) {
    const S *left = static_cast<const S*>(a), *right = static_cast<const S*>(b);
    R* const to = static_cast<R*>(out);
    if (single < 0) return body2_of_both<Op>(left, right, to, n, attributes);
    S repeated[ep::BLOCK];
    for (int64_t i = 0; i < n && i < ep::BLOCK; ++i) repeated[i] = single == 0 ? *left : *right;
    for (int64_t i = 0; i < n; i += ep::BLOCK) {
        const int64_t m = n - i < ep::BLOCK ? n - i : ep::BLOCK;
        body2_of_both<Op>(single == 0 ? repeated : left + i, single == 0 ? right + i : repeated, to + i, m, attributes);
    }
}

// Ops with a short form, which is free of branches and gives the same where no element is a long one.
template <class Op, class S, class R>
void body2_short(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single) {
    using V = decltype(get(S{}));
    const S *left = static_cast<const S*>(a), *right = static_cast<const S*>(b);
    R* const to = static_cast<R*>(out);
    for (int64_t i = 0; i < n; i += ep::BLOCK) {
        const int64_t m = n - i < ep::BLOCK ? n - i : ep::BLOCK;
        const S *x = left + i, *y = right + i;
        S repeated[ep::BLOCK];
        if (single >= 0) {
            for (int64_t k = 0; k < m; ++k) repeated[k] = single == 0 ? *left : *right;
            (single == 0 ? x : y) = repeated;
        }
        V longs = 0;
        for (int64_t k = 0; k < m; ++k) longs = Op::is_long(get(x[k]), get(y[k])) ? V{1} : longs;
        if (longs == 0)
            body2_of_both<typename Op::Short>(x, y, to + i, m, attributes);
        else
            body2_of_both<Op>(x, y, to + i, m, attributes);
    }
}

template <class Op, class S, class R>
void body1_short(const void* x, const void*, void* out, int64_t n, const double* attributes, int) {
    using V = decltype(get(S{}));
    const S* const from = static_cast<const S*>(x);
    R* const to = static_cast<R*>(out);
    for (int64_t i = 0; i < n; i += ep::BLOCK) {
        const int64_t m = n - i < ep::BLOCK ? n - i : ep::BLOCK;
        V longs = 0;
        for (int64_t k = 0; k < m; ++k) longs = Op::is_long(get(from[i + k])) ? V{1} : longs;
        if (longs == 0)
            body1<typename Op::Short, S, R>(from + i, nullptr, to + i, m, attributes, -1);
        else
            body1<Op, S, R>(from + i, nullptr, to + i, m, attributes, -1);
    }
}

// Light ops are bound by memory: a single operand stays in a register, in loops of its own.
template <class Op, class S, class R>
void body2_light(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single) {
    const S *left = static_cast<const S*>(a), *right = static_cast<const S*>(b);
    R* const to = static_cast<R*>(out);
    const auto p = static_cast<Attribute<S>>(attributes[0]), q = static_cast<Attribute<S>>(attributes[1]);
    if (single < 0) return body2_of_both<Op>(left, right, to, n, attributes);
    if (single == 0) {
        const auto x = get(*left);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = put<R>(Op::of(x, get(right[i]), p, q, attributes));
    } else {
        const auto y = get(*right);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = put<R>(Op::of(get(left[i]), y, p, q, attributes));
    }
}
