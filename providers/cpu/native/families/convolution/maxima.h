// The largest elements of windows, channel by channel. Included once per instruction set, in an anonymous namespace,
// after piece.h.
#pragma once

// Whole numbers in the order of floats, of which zeros are two, and NaN, whose bits all become the same, is the
// largest.
template <class S>
using Key = std::conditional_t<sizeof(S) == 4, int32_t, int64_t>;
template <class S>
constexpr Key<S> MAGNITUDE = std::numeric_limits<Key<S>>::max();

// All bits of a number but its sign, turned over if that is set; and back.
template <class S>
EP_INLINE V<Key<S>> turned(V<Key<S>> bits) {
    return bits ^ (bits >> (8 * int{sizeof(S)} - 1) & MAGNITUDE<S>);
}
template <class S>
EP_INLINE V<Key<S>> key_of(V<S> x) {
    const V<S> nan = repeated(std::numeric_limits<S>::quiet_NaN());
    return x != x ? reinterpret_cast<V<Key<S>>>(nan) : turned<S>(reinterpret_cast<V<Key<S>>>(x));
}

// n numbers, and what the last vector has beyond them, as keys in their place.
template <class S>
void order(S* x, int64_t n) {
    for (int64_t i = 0; i < n; i += Vector<S>::lanes) store(reinterpret_cast<Key<S>*>(x + i), key_of<S>(load(x + i)));
}

// Places of a piece, whose x are keys, VECTORS vectors of them at a time.
template <class S, int VECTORS>
void find_places(const Layout& layout, int64_t places, const S* x, S* out) {
    constexpr int lanes = Vector<S>::lanes;
    const int64_t *const window = layout.window(), size = layout.size();
    const Key<S>* const keys = reinterpret_cast<const Key<S>*>(x);
    for (int64_t i = 0; i < places; i += VECTORS * lanes) {
        V<Key<S>> most[VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) most[v] = load(keys + i + window[0] + v * lanes);
        for (int64_t k = 1; k < size; ++k)
#pragma GCC unroll 8
            for (int v = 0; v < VECTORS; ++v) {
                const V<Key<S>> key = load(keys + i + window[k] + v * lanes);
                most[v] = key > most[v] ? key : most[v];
            }
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) store<S>(out + i + v * lanes, reinterpret_cast<V<S>>(turned<S>(most[v])));
    }
}

template <class T>
void find_largest(const ep_convolution_plan& g, char* const* at, int64_t begin, int64_t end, char* scratch) {
    using S = Staged<T>;
    const Layout layout(g);
    S* const x = reinterpret_cast<S*>(scratch);
    S* const out = x + layout.channel() + ep::BEYOND;
    ep::Piece piece = piece_of(g, begin);
    for (int64_t number = begin; number < end; ++number, advance(g, piece)) {
        layout.bring(given(g, at, piece), piece, -std::numeric_limits<S>::infinity(), x);
        order(x, layout.channel());
        find_places<S, 4>(layout, layout.length(piece.count), x, out);
        layout.put(out, piece, made(g, at, piece));
    }
}
