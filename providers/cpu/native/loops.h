// The inner loops: n elements along one dimension. Ops run on contiguous blocks; strides, float16 and streaming stores
// are dealt with by staging blocks in and out, so that a value never depends on its layout.
// Included once per instruction set, in an anonymous namespace.

constexpr int64_t BLOCK = 512;

// One operand's next block as the op reads it.
template <class T>
struct Source {
    Staged<T> staged[BLOCK];

    const Staged<T>* block(const char* at, int64_t step, int64_t n) {
        if constexpr (std::is_same_v<T, Half>) {
            Half gathered[BLOCK];
            widen(contiguous(at, step, n, gathered), staged, n);
            return staged;
        } else {
            return contiguous(at, step, n, staged);
        }
    }

    static const T* contiguous(const char* at, int64_t step, int64_t n, T* buffer) {
        if (step == int64_t{sizeof(T)}) return reinterpret_cast<const T*>(at);
        for (int64_t i = 0; i < n; ++i) buffer[i] = *reinterpret_cast<const T*>(at + i * step);
        return buffer;
    }
};

// Where the op writes a block, and how that gets to the output.
template <class R>
struct Target {
    char* at;
    const int64_t step;
    const bool is_direct, is_streaming;
    R converted[BLOCK];
    Staged<R> staged[BLOCK];

    Target(char* out, int64_t out_step, bool streams)
        : at(out),
          step(out_step),
          is_direct(out_step == int64_t{sizeof(R)}),
          is_streaming(streams && is_direct && reinterpret_cast<uintptr_t>(out) % sizeof(R) == 0) {}

    // Blocks end on lines when streaming, the first one too.
    int64_t length(int64_t left) const {
        const auto odd = static_cast<int64_t>(reinterpret_cast<uintptr_t>(at) % ep::LINE / sizeof(R));
        const int64_t whole = is_streaming && odd != 0 ? ep::LINE / int64_t{sizeof(R)} - odd : BLOCK;
        return left < whole ? left : whole;
    }

    bool is_in_place() const { return is_direct && !is_streaming; }

    Staged<R>* block() {
        if constexpr (std::is_same_v<R, Half>)
            return staged;
        else
            return is_in_place() ? reinterpret_cast<R*>(at) : staged;
    }

    void flush(int64_t n) {
        const R* values = nullptr;
        if constexpr (std::is_same_v<R, Half>) {
            Half* to = is_in_place() ? reinterpret_cast<Half*>(at) : converted;
            narrow(staged, to, n);
            values = to;
        } else {
            values = staged;
        }
        if (is_streaming && ep::is_line_aligned(at)) {
            ep::stream_copy(at, reinterpret_cast<const char*>(values), n * int64_t{sizeof(R)});
        } else if (!is_in_place()) {
            for (int64_t i = 0; i < n; ++i) *reinterpret_cast<R*>(at + i * step) = values[i];
        }
        at += n * step;
    }
};

// In place is exact, so no iteration depends on another: ivdep is true.
template <class Op, class S, class R>
__attribute__((noinline)) void dense1(const S* x, R* out, int64_t n, const double* attributes) {
    using V = decltype(get(S{}));
    const V alpha = static_cast<V>(attributes[0]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = put<R>(Op::of(get(x[i]), alpha));
}

template <class Op, class S, class R>
__attribute__((noinline)) void dense2(const S* a, const S* b, R* out, int64_t n, const double* attributes) {
    using V = decltype(get(S{}));
    const V alpha = static_cast<V>(attributes[0]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = put<R>(Op::of(get(a[i]), get(b[i]), alpha));
}

template <class Op, class S, class R>
__attribute__((noinline)) void dense2_left(const S* a, const S* b, R* out, int64_t n, const double* attributes) {
    using V = decltype(get(S{}));
    const V alpha = static_cast<V>(attributes[0]), left = get(*a);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = put<R>(Op::of(left, get(b[i]), alpha));
}

template <class Op, class S, class R>
__attribute__((noinline)) void dense2_right(const S* a, const S* b, R* out, int64_t n, const double* attributes) {
    using V = decltype(get(S{}));
    const V alpha = static_cast<V>(attributes[0]), right = get(*b);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = put<R>(Op::of(get(a[i]), right, alpha));
}

inline bool streams(const ep_geometry* g, char* const* at, int64_t n) {
    if (g->traffic < ep::STREAMING || n < BLOCK) return false;
    for (int k = 0; k + 1 < g->operands; ++k)
        if (at[k] == at[g->operands - 1]) return false;
    return true;
}

template <class Op, class T, class R>
void unary(const ep_geometry* g, char* const* at, const int64_t* step, int64_t n) {
    Source<T> x;
    Target<R> out(at[1], step[1], streams(g, at, n));
    if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<R, Half>) {
        if (step[0] == int64_t{sizeof(T)} && out.is_in_place()) {
            dense1<Op>(reinterpret_cast<const T*>(at[0]), reinterpret_cast<R*>(at[1]), n, g->attributes);
            return;
        }
    }
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        dense1<Op>(x.block(at[0] + i * step[0], step[0], m), out.block(), m, g->attributes);
        out.flush(m);
    }
    if (out.is_streaming) ep::stream_done();
}

// An operand that stays where it is: one value. A number given at launch is in the compute type already.
template <class T>
const Staged<T>* single(Source<T>& source, const ep_geometry* g, char* const* at, int k) {
    if (g->scalar == k) return reinterpret_cast<const Staged<T>*>(at[k]);
    return source.block(at[k], sizeof(T), 1);
}

template <class Op, class T, class R>
void binary(const ep_geometry* g, char* const* at, const int64_t* step, int64_t n) {
    using S = Staged<T>;
    Source<T> a, b;
    Target<R> out(at[2], step[2], streams(g, at, n));
    const bool is_left = step[0] == 0 || g->scalar == 0, is_right = !is_left && (step[1] == 0 || g->scalar == 1);
    auto* const loop = is_left    ? dense2_left<Op, S, Staged<R>>
                       : is_right ? dense2_right<Op, S, Staged<R>>
                                  : dense2<Op, S, Staged<R>>;
    const S *left = is_left ? single(a, g, at, 0) : nullptr, *right = is_right ? single(b, g, at, 1) : nullptr;
    if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<R, Half>) {
        const auto is_dense = [&](int k) { return step[k] == int64_t{sizeof(T)}; };
        if ((is_left || is_dense(0)) && (is_right || is_dense(1)) && out.is_in_place()) {
            loop(reinterpret_cast<const T*>(at[0]), reinterpret_cast<const T*>(at[1]), reinterpret_cast<R*>(at[2]), n,
                 g->attributes);
            return;
        }
    }
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        const S* x = is_left ? left : a.block(at[0] + i * step[0], step[0], m);
        const S* y = is_right ? right : b.block(at[1] + i * step[1], step[1], m);
        loop(x, y, out.block(), m, g->attributes);
        out.flush(m);
    }
    if (out.is_streaming) ep::stream_done();
}

// Elements moved as they are; U is an unsigned integer of their size.
template <class U>
void copy(const ep_geometry* g, char* const* at, const int64_t* step, int64_t n) {
    const bool is_dense = step[0] == int64_t{sizeof(U)} && step[1] == int64_t{sizeof(U)};
    char* out = at[1];
    const char* x = at[0];
    if (is_dense && streams(g, at, n) && reinterpret_cast<uintptr_t>(out) % sizeof(U) == 0) {
        const auto head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % ep::LINE);
        std::memcpy(out, x, static_cast<size_t>(head));
        ep::stream_copy(out + head, x + head, n * int64_t{sizeof(U)} - head);
        ep::stream_done();
    } else if (is_dense) {
        std::memmove(out, x, static_cast<size_t>(n) * sizeof(U));
    } else {
        for (int64_t i = 0; i < n; ++i, x += step[0], out += step[1])
            *reinterpret_cast<U*>(out) = *reinterpret_cast<const U*>(x);
    }
}

template <class U>
void fill(const ep_geometry* g, char* const* at, const int64_t* step, int64_t n) {
    const U value = *reinterpret_cast<const U*>(at[0]);
    Target<U> out(at[1], step[1], streams(g, at, n));
    U* block = out.staged;
    if (out.is_in_place()) {
        block = reinterpret_cast<U*>(at[1]);
        for (int64_t i = 0; i < n; ++i) block[i] = value;
        return;
    }
    for (int64_t i = 0; i < BLOCK && i < n; ++i) block[i] = value;
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        out.flush(m);
    }
    if (out.is_streaming) ep::stream_done();
}
