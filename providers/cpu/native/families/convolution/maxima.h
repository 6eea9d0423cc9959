// The largest elements of windows, channel by channel. Included once per instruction set, in an anonymous namespace,
// after piece.h.
#pragma once

// Lanes of a or of b, whichever is larger, as `larger` says of numbers.
template <class S>
EP_INLINE V<S> larger_lanes(V<S> a, V<S> b) {
    typedef decltype(a == b) Bits;
    const V<S> both = reinterpret_cast<V<S>>(reinterpret_cast<Bits>(a) & reinterpret_cast<Bits>(b));
    const V<S> settled = a == b ? both : a > b ? a : b;
    return a != a ? a : settled;
}

// Places of a piece, VECTORS vectors of them at a time.
template <class S, int VECTORS>
void find_places(const Layout& layout, int64_t places, const S* x, S* out) {
    constexpr int lanes = Vector<S>::lanes;
    const int64_t *const window = layout.window(), size = layout.size();
    for (int64_t i = 0; i < places; i += VECTORS * lanes) {
        V<S> most[VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) most[v] = load(x + i + window[0] + v * lanes);
        for (int64_t k = 1; k < size; ++k)
#pragma GCC unroll 8
            for (int v = 0; v < VECTORS; ++v) most[v] = larger_lanes<S>(most[v], load(x + i + window[k] + v * lanes));
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) store<S>(out + i + v * lanes, most[v]);
    }
}

template <class T>
void find_largest(const ep_convolution_plan& g, char* const* at, int64_t begin, int64_t end, char* scratch) {
    using S = Staged<T>;
    const Layout layout(g);
    const int64_t cuts = (g.count[0] + g.windows - 1) / g.windows;
    S* const x = reinterpret_cast<S*>(scratch);
    S* const out = x + layout.channel() + ep::BEYOND;
    for (int64_t number = begin; number < end; ++number) {
        const ep::Piece piece = piece_of(g, number);
        layout.bring(given(g, at, piece), piece, -std::numeric_limits<S>::infinity(), x);
        find_places<S, 4>(layout, layout.length(piece.count), x, out);
        layout.put(out, piece, made(g, at, piece));
    }
}
