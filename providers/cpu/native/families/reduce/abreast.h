// Elements of memory into states in registers: what blocks would cost is a load and a store of each. Included once per
// instruction set, in an anonymous namespace, after isa/lanes.h, types/stored.h and joints.h.
#pragma once

// Ops over vectors of elements E, with the bits that they have over single elements; not there where an op has no such
// form.
template <class Op>
struct Abreast {
    static constexpr bool is_there = false;
};
template <class T>
struct Abreast<Sum<T>> {
    static constexpr bool is_there = EP_WIDTH > 16 && std::is_floating_point_v<T>;
    using E = T;
    using State = T;
    V<Mask<T>> keep;
    explicit Abreast(const ep::Lens& lens) : keep(repeated(static_cast<Mask<T>>(lens.keep))) {}
    EP_INLINE V<T> of(V<T> x) const { return reinterpret_cast<V<T>>(reinterpret_cast<V<Mask<T>>>(x) & keep); }
    static EP_INLINE V<T> join(V<T> a, V<T> b) { return a + b; }
};
template <>
struct Abreast<Squares> {
    static constexpr bool is_there = EP_WIDTH > 16;
    using E = double;
    using State = double;
    V<double> scale;
    explicit Abreast(const ep::Lens& lens) : scale(repeated(lens.scale)) {}
    EP_INLINE V<double> of(V<double> x) const { return (x * scale) * (x * scale); }
    static EP_INLINE V<double> join(V<double> a, V<double> b) { return a + b; }
};
template <class T>
struct Abreast<GreatestKey<T>> {
    static constexpr bool is_there = EP_WIDTH > 16;
    using E = T;
    using Key = KeyOf<T>;
    using Bits = typename Key::Bits;
    using State = typename Key::Key;
    V<Bits> flip;
    explicit Abreast(const ep::Lens& lens) : flip(repeated(static_cast<Bits>(lens.flip))) {}
    EP_INLINE V<State> of(V<T> x) const {
        const V<State> bits = reinterpret_cast<V<State>>(reinterpret_cast<V<Bits>>(x) ^ flip);
        const V<State> sign = bits >> (8 * sizeof(T) - 1);
        return reinterpret_cast<V<State>>(reinterpret_cast<V<Bits>>(bits ^ (sign & State(Key::top - 1))) + Key::shift);
    }
    static EP_INLINE V<State> join(V<State> a, V<State> b) { return a > b ? a : b; }
};

// Whether an op takes elements that are stored as T from memory.
template <class Op, class T>
constexpr bool takes_stored() {
    if constexpr (Abreast<Op>::is_there && is_real_float<T>)
        return sizeof(Staged<T>) <= sizeof(typename Abreast<Op>::E);
    else
        return false;
}

// Bytes ahead of what is read that are fetched: one thread alone waits for memory otherwise.
constexpr int64_t AHEAD = 4096;

// Of `rows` rows that are `step` bytes apart, VECTORS vectors each into as many states; four rows are joined pairwise
// first.
template <class Op, class T, int VECTORS>
EP_INLINE void join_abreast(void* states, const char* at, int64_t step, int64_t rows, const Abreast<Op>& op) {
    using S = typename Abreast<Op>::State;
    constexpr int lanes = Vector<S>::lanes;
    S* const to = static_cast<S*>(states);
    V<S> state[VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) state[v] = load(to + v * lanes);
    const auto element = [&](int64_t row, int v) {
        return op.of(load_stored<typename Abreast<Op>::E>(reinterpret_cast<const T*>(at + row * step) + v * lanes));
    };
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4, at += 4 * step) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) {
            if (v * lanes * int64_t{sizeof(T)} % ep::LINE == 0)
                for (int k = 0; k < 4; ++k) __builtin_prefetch(at + k * step + AHEAD + v * lanes * int64_t{sizeof(T)});
            const V<S> pairs = op.join(op.join(element(0, v), element(1, v)), op.join(element(2, v), element(3, v)));
            state[v] = op.join(state[v], pairs);
        }
    }
    for (; r < rows; ++r, at += step) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) state[v] = op.join(state[v], element(0, v));
    }
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) store<S>(to + v * lanes, state[v]);
}

// `rows` times n contiguous elements as they are stored, rows `step` bytes apart, each into the state at its place of
// n; returns how many places of n are done: whole vectors of them.
template <class Op, class T>
int64_t take_stored(void* states, const char* at, int64_t step, int64_t rows, int64_t n, const ep::Lens& lens) {
    using S = typename Abreast<Op>::State;
    constexpr int64_t lanes = Vector<S>::lanes;
    const Abreast<Op> op(lens);
    int64_t i = 0;
    const auto place = [&] { return static_cast<S*>(states) + i; };
    for (; i + 8 * lanes <= n; i += 8 * lanes)
        join_abreast<Op, T, 8>(place(), at + i * int64_t{sizeof(T)}, step, rows, op);
    for (; i + lanes <= n; i += lanes) join_abreast<Op, T, 1>(place(), at + i * int64_t{sizeof(T)}, step, rows, op);
    return i;
}

template <class Op>
struct Joined {
    template <class Y>
    EP_INLINE Y operator()(Y a, Y b) const {
        return Abreast<Op>::join(a, b);
    }
};

// One state from `rows` times LANES contiguous elements: they are taken, and folded by halves.
template <class Op, class T>
void fold_stored(void* state, const char* at, int64_t rows, const ep::Lens& lens) {
    using S = typename Abreast<Op>::State;
    constexpr int lanes = Vector<S>::lanes, vectors = int{ep::LANES} / lanes;
    alignas(ep::LINE) S states[ep::LANES];
    for (int v = 0; v < vectors; ++v) store<S>(states + v * lanes, repeated<S>(Op::nothing()));
    take_stored<Op, T>(states, at, ep::LANES * int64_t{sizeof(T)}, rows, ep::LANES, lens);
    V<S> left[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) left[v] = load(states + v * lanes);
#pragma GCC unroll 8
    for (int half = vectors / 2; half > 0; half /= 2)
        for (int v = 0; v < half; ++v) left[v] = Abreast<Op>::join(left[v], left[v + half]);
    *static_cast<S*>(state) = folded<S>(left[0], Joined<Op>{});
}

template <class Op, class T>
constexpr auto folds() -> decltype(ep::Reducer::folds) {
    if constexpr (takes_stored<Op, T>())
        return fold_stored<Op, T>;
    else
        return nullptr;
}
template <class Op, class T>
constexpr auto stored() -> decltype(ep::Reducer::stored) {
    if constexpr (takes_stored<Op, T>())
        return take_stored<Op, T>;
    else
        return nullptr;
}
