// Elements of memory into states in registers: what blocks would cost is a load and a store of each. Included once per
// instruction set, in an anonymous namespace, after types/stored.h and joints.h.
#pragma once

// Whether an op's states are faster in registers.
template <class Op>
constexpr bool is_in_registers = std::is_same_v<Op, Squares>;
template <class T>
constexpr bool is_in_registers<Sum<T>> = std::is_floating_point_v<T> || std::is_same_v<T, uint64_t>;
template <class T>
constexpr bool is_in_registers<GreatestKey<T>> = true;

// Whether an op takes elements that are stored as T from memory.
template <class Op, class T>
constexpr bool takes_stored() {
    if constexpr (EP_WIDTH == 16 || !is_in_registers<Op>)
        return false;
    else if constexpr (is_real_float<T>)
        return sizeof(Staged<T>) <= sizeof(typename Op::Element);
    else
        return (std::is_integral_v<T> || std::is_same_v<T, Boolean>) && sizeof(T) <= 4 &&
               std::is_same_v<typename Op::Element, uint64_t>;
}

// Elements of rows that are `step` bytes apart, as vectors of their places.
template <class Op, class T>
struct Elements {
    using S = typename Op::State;
    static constexpr int64_t lanes = Vector<S>::lanes;
    const char* at;
    int64_t step;
    typename Op::View view;

    EP_INLINE V<S> of(int64_t row, int64_t i) const {
        return Op::of(load_stored<typename Op::Element>(reinterpret_cast<const T*>(at + row * step) + i), view);
    }
    EP_INLINE V<S> four(int64_t i, int64_t row = 0) const {
        return Op::join(Op::join(of(row, i), of(row + 1, i)), Op::join(of(row + 2, i), of(row + 3, i)));
    }
    EP_INLINE void fetch(int64_t row, int64_t i, int64_t ahead) const {
        __builtin_prefetch(at + row * step + i * int64_t{sizeof(T)} + ahead);
    }
    EP_INLINE Elements from(int64_t i) const { return {at + i * int64_t{sizeof(T)}, step, view}; }
    EP_INLINE void go(int64_t rows) { at += rows * step; }
};

// Bytes that are fetched ahead of a stream, into the second cache, and of rows that a shared cache holds.
constexpr int64_t AHEAD = 1024, ROWS_AHEAD = 4096;

// VECTORS vectors of all rows into states, which are in registers meanwhile.
template <class Op, class T, int VECTORS>
EP_INLINE void join_abreast(typename Op::State* states, Elements<Op, T> x, int64_t rows) {
    using S = typename Op::State;
    V<S> state[VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) state[v] = load(states + v * x.lanes);
    for (; rows >= 4; rows -= 4, x.go(4)) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) {
            if (v * x.lanes * int64_t{sizeof(T)} % ep::LINE == 0)
                for (int row = 0; row < 4; ++row) x.fetch(row, v * x.lanes, ROWS_AHEAD);
            state[v] = Op::join(state[v], x.four(v * x.lanes));
        }
    }
    for (; rows > 0; --rows, x.go(1)) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) state[v] = Op::join(state[v], x.of(0, v * x.lanes));
    }
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) store<S>(states + v * x.lanes, state[v]);
}

// Four rows along n places, so that each is a stream, and the next four are fetched; or eight, where the processor
// foresees the next ones. The states stay in the first cache.
template <class Op, class T, int fours>
EP_INLINE void join_fours(typename Op::State* states, const Elements<Op, T>& x, int64_t n) {
    using S = typename Op::State;
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; i += x.lanes) {
        if (fours == 1 && i * int64_t{sizeof(T)} % ep::LINE == 0)
            for (int row = 0; row < 4; ++row)
                __builtin_prefetch(x.at + (row + 4) * x.step + i * int64_t{sizeof(T)}, 0, 2);
        V<S> state = load(states + i);
#pragma GCC unroll 2
        for (int four = 0; four < fours; ++four) state = Op::join(state, x.four(i, 4 * four));
        store<S>(states + i, state);
    }
}

// `rows` times n contiguous elements as they are stored, rows `step` bytes apart, each into the state at its place of
// n; returns how many places of n are done: whole vectors of them. Four rows are joined pairwise first.
template <class Op, class T>
int64_t take_stored(void* states, const char* at, int64_t step, int64_t rows, int64_t n, const ep::Lens& lens) {
    using S = typename Op::State;
    const auto view = Op::view(lens);
    Elements<Op, T> x = {at, step, view};
    const int64_t whole = n / x.lanes * x.lanes;
    S* const to = static_cast<S*>(states);
    constexpr int of_lanes = int{ep::LANES} / x.lanes;
    // The lanes of one row stay in registers.
    if (n > ep::LANES) {
        for (; ep::FORESEES && rows >= 8; rows -= 8, x.go(8)) join_fours<Op, T, 2>(to, x, whole);
        for (; rows >= 4; rows -= 4, x.go(4)) join_fours<Op, T, 1>(to, x, whole);
    }
    int64_t i = 0;
    const auto join = [&](auto vectors) {
        for (; i + vectors * x.lanes <= whole; i += vectors * x.lanes)
            join_abreast<Op, T, vectors>(to + i, x.from(i), rows);
    };
    join(std::integral_constant<int, 8>{});
    if constexpr (of_lanes < 8) join(std::integral_constant<int, of_lanes>{});
    join(std::integral_constant<int, 1>{});
    return whole;
}

template <class Op>
struct Joined {
    template <class Y>
    EP_INLINE Y operator()(Y a, Y b) const {
        return Op::join(a, b);
    }
};

// A vector that is loaded here, and not where the compiler would use it.
template <class S>
EP_INLINE V<S> loaded_now(V<S> x) {
#if !EP_EMULATED
    __asm__ volatile("" : "+v"(x));
#endif
    return x;
}

// Four rows of four vectors each into their states, from lines two apart, then from those between: line after line, or
// four apart, Zen 4 reads from its shared cache at 0.6 to 0.8 of that speed.
template <class Op, class T, int... place>
EP_INLINE void join_by_lines(V<typename Op::State>* states, const Elements<Op, T>& x,
                             std::integer_sequence<int, place...>) {
    using S = typename Op::State;
    V<S> at[16];
    ((at[place] = loaded_now<S>(x.of(place / 4, place % 4 * x.lanes))), ...);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v)
        states[v] = Op::join(states[v], Op::join(Op::join(at[v], at[4 + v]), Op::join(at[8 + v], at[12 + v])));
}
using ByLines = std::integer_sequence<int, 0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15>;

// One state of `vectors` vectors of them.
template <class Op, int vectors, class S>
EP_INLINE S folded_halves(V<S>* left) {
    if constexpr (vectors == 1) return folded<S>(left[0], Joined<Op>{});
#pragma GCC unroll 8
    for (int v = 0; v < vectors / 2; ++v) left[v] = Op::join(left[v], left[v + vectors / 2]);
    return folded_halves<Op, std::max(1, vectors / 2), S>(left);
}

// The state of LANES columns, of which x has `rows` rows yet, and `rest` elements of another.
template <class Op, class T>
EP_INLINE void fold_lanes(void* state, V<typename Op::State>* left, Elements<Op, T> x, int64_t rows, int64_t rest) {
    using S = typename Op::State;
    constexpr int lanes = Vector<S>::lanes, vectors = int{ep::LANES} / lanes;
    for (; rows > 0; --rows, x.go(1)) {
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) left[v] = Op::join(left[v], x.of(0, v * lanes));
    }
    if (rest != 0) {
        T last[ep::LANES] = {};
        std::memcpy(last, x.at, static_cast<size_t>(rest) * sizeof(T));
        x.at = reinterpret_cast<const char*>(last);
        S states[ep::LANES], joined[ep::LANES];
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) {
            store<S>(states + v * lanes, left[v]);
            store<S>(joined + v * lanes, Op::join(left[v], x.of(0, v * lanes)));
        }
        std::memcpy(states, joined, static_cast<size_t>(rest) * sizeof(S));
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) left[v] = load(states + v * lanes);
    }
    *static_cast<S*>(state) = folded_halves<Op, vectors, S>(left);
}

// A state from n contiguous elements: they are taken by LANES, and folded by halves.
template <class Op, class T>
EP_INLINE void fold_row(void* state, Elements<Op, T> x, int64_t n, bool is_far) {
    using S = typename Op::State;
    constexpr int lanes = Vector<S>::lanes, vectors = int{ep::LANES} / lanes;
    V<S> left[vectors];
    int64_t rows = n / ep::LANES;
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) left[v] = repeated<S>(Op::nothing());
    for (; rows >= 4; rows -= 4, x.go(4)) {
        if (is_far)
            for (int64_t line = 0; line < 4 * x.step; line += ep::LINE) __builtin_prefetch(x.at + line + AHEAD, 0, 2);
        if constexpr (vectors == 4 && sizeof(T) * lanes == ep::LINE) {
            join_by_lines(left, x, ByLines{});
            continue;
        }
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) left[v] = Op::join(left[v], x.four(v * lanes));
    }
    fold_lanes(state, left, x, rows, n % ep::LANES);
}

// A state from n contiguous elements of each of `count` rows, `apart` bytes from one another.
template <class Op, class T>
void fold_stored(void* states, const char* at, int64_t apart, int64_t count, int64_t n, const ep::Lens& lens,
                 bool is_far) {
    const auto view = Op::view(lens);
    auto* const to = static_cast<typename Op::State*>(states);
    for (int64_t i = 0; i < count; ++i, at += apart)
        fold_row<Op, T>(to + i, {at, ep::LANES * int64_t{sizeof(T)}, view}, n, is_far);
}

// Two states from n contiguous elements each, `apart` bytes from one another, as `fold_stored` gives them. Lines come
// in turn from both, so that the processor reads two streams ahead; four rows of lanes are joined pairwise, part by
// part.
template <class Op, class T>
void fold_two(void* states, const char* at, int64_t apart, int64_t n, const ep::Lens& lens) {
    using S = typename Op::State;
    constexpr int lanes = Vector<S>::lanes, vectors = int{ep::LANES} / lanes;
    constexpr int of_line = std::max(1, std::min(vectors, int{ep::LINE} / (int{sizeof(T)} * lanes)));
    const auto view = Op::view(lens);
    Elements<Op, T> x[2] = {{at, ep::LANES * int64_t{sizeof(T)}, view},
                            {at + apart, ep::LANES * int64_t{sizeof(T)}, view}};
    V<S> left[2][vectors], upper[2][vectors], lower[2][vectors];
    int64_t rows = n / ep::LANES;
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) left[0][v] = left[1][v] = repeated<S>(Op::nothing());
    for (; rows >= 4; rows -= 4, x[0].go(4), x[1].go(4)) {
#pragma GCC unroll 4
        for (int row = 0; row < 4; ++row)
#pragma GCC unroll 4
            for (int line = 0; line < vectors; line += of_line)
#pragma GCC unroll 2
                for (int w = 0; w < 2; ++w)
#pragma GCC unroll 16
                    for (int v = line; v < line + of_line; ++v) {
                        const V<S> own = x[w].of(row, v * lanes);
                        if (row == 0) upper[w][v] = own;
                        if (row == 1) upper[w][v] = Op::join(upper[w][v], own);
                        if (row == 2) lower[w][v] = own;
                        if (row == 3)
                            left[w][v] = Op::join(left[w][v], Op::join(upper[w][v], Op::join(lower[w][v], own)));
                    }
    }
    for (int w = 0; w < 2; ++w) fold_lanes(static_cast<S*>(states) + w, left[w], x[w], rows, n % ep::LANES);
}

// Whether log_sum_exp takes elements that are stored as T from memory.
template <class Op, class T>
constexpr bool has_exponents = false;
template <class S, class T>
constexpr bool has_exponents<LogSumExp<S>, T> = std::is_same_v<S, T> || (EP_WIDTH > 16 && sizeof(T) == 2);

// Up to LANES numbers as they are computed: where they lie, or in `line`.
template <class S, class T>
EP_INLINE const S* line_of(const T* at, int64_t n, S* line) {
    if constexpr (std::is_same_v<S, T>) return at;
    T part[ep::LANES] = {};
    if (n < ep::LANES) at = static_cast<const T*>(std::memcpy(part, at, static_cast<size_t>(n) * sizeof(T)));
    for (int64_t j = 0; j < ep::LANES; j += Vector<S>::lanes) store<S>(line + j, load_stored<S>(at + j));
    return line;
}

// The greatest of n contiguous numbers first, so that each of them has one exponential.
template <class S, class T>
EP_INLINE Exponents<S> exponents_of(const T* x, int64_t n) {
    using Op = LogSumExp<S>;
    constexpr int64_t lanes = ep::LANES;
    const int64_t whole = n / lanes * lanes, rest = n - whole;
    S most[lanes], sum[lanes] = {}, line[lanes];
    for (int64_t j = 0; j < lanes; ++j) most[j] = Op::nothing().greatest;
    const auto each_line = [&](auto take) {
        for (int64_t i = 0; i < whole; i += lanes) {
            const S* const numbers = line_of(x + i, lanes, line);
            for (int64_t j = 0; j < lanes; ++j) take(j, numbers[j]);
        }
        if (rest == 0) return;
        const S* const numbers = line_of(x + whole, rest, line);
        for (int64_t j = 0; j < rest; ++j) take(j, numbers[j]);
    };
    each_line([&](int64_t j, S number) { most[j] = larger(most[j], number); });
    for (int64_t half = lanes / 2; half > 0; half /= 2)
        for (int64_t j = 0; j < half; ++j) most[j] = larger(most[j], most[j + half]);
    const S base = Op::base_of(most[0]);
    each_line([&](int64_t j, S number) { sum[j] += Op::decayed(number - base); });
    for (int64_t half = lanes / 2; half > 0; half /= 2)
        for (int64_t j = 0; j < half; ++j) sum[j] += sum[j + half];
    return {most[0], sum[0]};
}
template <class S, class T>
void fold_exponents(void* states, const char* at, int64_t apart, int64_t count, int64_t n, const ep::Lens&, bool) {
    auto* const to = static_cast<Exponents<S>*>(states);
    for (int64_t i = 0; i < count; ++i, at += apart) to[i] = exponents_of<S>(reinterpret_cast<const T*>(at), n);
}

template <class Op, class T>
constexpr auto folds() -> decltype(ep::Reducer::folds) {
    if constexpr (takes_stored<Op, T>() && is_byte<T>)
        return fold_bytes<T>;
    else if constexpr (is_greatest<Op, T>)
        return fold_greatest<typename Op::State>;
    else if constexpr (takes_stored<Op, T>())
        return fold_stored<Op, T>;
    else if constexpr (has_exponents<Op, T>)
        return fold_exponents<Staged<T>, T>;
    else
        return nullptr;
}
template <class Op, class T>
constexpr auto folds_two() -> decltype(ep::Reducer::folds_two) {
    if constexpr (takes_stored<Op, T>() && EP_WIDTH == 32 && !is_byte<T>)
        return fold_two<Op, T>;
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
