// Runs of a row, scanned side by side and joined to the result before them. Included once per instruction set, in an
// anonymous namespace, after joints.h.
#pragma once

constexpr int64_t WIDTH = ep::SCAN_WIDTH, RUN = ep::BLOCK / WIDTH;
// Runs of a row that are scanned at once, in registers.
constexpr int64_t ABREAST = 8;

// One step of a chain waits for the one before: LANES chains do not wait for one another.
template <class Op, int64_t LANES, int64_t ACROSS, int64_t ALONG>
EP_INLINE void chain(const typename Op::S* x, typename Op::S* made, typename Op::S* states, int64_t n) {
    typename Op::S state[LANES];
    for (int64_t w = 0; w < LANES; ++w) state[w] = states[w];
    for (int64_t i = 0; i < n; ++i)
#pragma GCC unroll 16
        for (int64_t w = 0; w < LANES; ++w) {
            state[w] = Op::join(state[w], x[w * ACROSS + i * ALONG]);
            made[w * ACROSS + i * ALONG] = state[w];
        }
    for (int64_t w = 0; w < LANES; ++w) states[w] = state[w];
}

// Numbers that may be lanes of vectors.
template <class Op>
constexpr bool HAS_VECTORS = false;
template <class T>
constexpr bool IS_LANE = std::is_arithmetic_v<T> && sizeof(T) >= 4;
template <class T>
constexpr bool HAS_VECTORS<Added<T>> = IS_LANE<T>;
template <class T>
constexpr bool HAS_VECTORS<Most<T>> = IS_LANE<T>;
template <class T>
constexpr bool HAS_VECTORS<Least<T>> = IS_LANE<T>;
// Runs and columns of such numbers are, of which GCC makes single numbers else.
template <class Op>
constexpr bool HAS_LANES = EP_WIDTH == 32 && HAS_VECTORS<Op>;

// Runs that lie one after another: squares of their elements are turned in registers, and back.
template <class Op>
EP_INLINE void join_abreast(const typename Op::S* x, typename Op::S* made) {
    using T = typename Op::S;
    using Word = WordOf<T>;
    using Lanes = V<typename Op::Lane>;
    constexpr int64_t lanes = Vector<T>::lanes, square = IN_LANE<Word>, apart = RUN * sizeof(T);
    Lanes state[ABREAST / lanes];
    for (Lanes& run : state) run = repeated<typename Op::Lane>(Op::identity());
    for (int64_t i = 0; i < RUN; i += square) {
#pragma GCC unroll 4
        for (int64_t g = 0; g < ABREAST / lanes; ++g) {
            V<Word> columns[square];
            turn_lane<Word>(reinterpret_cast<const char*>(x + g * lanes * RUN + i), apart, columns);
#pragma GCC unroll 4
            for (int64_t j = 0; j < square; ++j) {
                state[g] = Op::join_lanes(state[g], reinterpret_cast<Lanes>(columns[j]));
                columns[j] = reinterpret_cast<V<Word>>(state[g]);
            }
            turn_back<Word>(columns, reinterpret_cast<char*>(made + g * lanes * RUN + i), apart);
        }
    }
}

// n lines of WIDTH numbers, each joined to the number before them.
template <class Op>
EP_INLINE void join_before(typename Op::S before, typename Op::S* made, int64_t n) {
    if constexpr (HAS_LANES<Op>) {
        using Lane = typename Op::Lane;
        constexpr int64_t lanes = Vector<Lane>::lanes;
        const V<Lane> given = repeated<Lane>(before);
        auto* at = reinterpret_cast<Lane*>(made);
        for (int64_t i = 0; i < n; ++i, at += WIDTH)
#pragma GCC unroll 4
            for (int64_t v = 0; v < WIDTH / lanes; ++v)
                store<Lane>(at + v * lanes, Op::join_lanes(given, load(at + v * lanes)));
    } else {
        for (int64_t i = 0; i < n * WIDTH; ++i) made[i] = Op::join(before, made[i]);
    }
}
