// Loops over the states of reductions, many side by side. Included once per instruction set, in an anonymous namespace,
// after ops.h.
#pragma once

template <class Op, class View>
EP_INLINE typename Op::State join_four(typename Op::State state, typename Op::Element a, typename Op::Element b,
                                       typename Op::Element c, typename Op::Element d, View view) {
    if constexpr (std::is_same_v<Op, LogSumExp<typename Op::Element>>)
        return Op::join(state, a, b, c, d);
    else
        return Op::join(
            state, Op::join(Op::join(Op::of(a, view), Op::of(b, view)), Op::join(Op::of(c, view), Op::of(d, view))));
}

template <class Op>
struct JointOf {
    using E = typename Op::Element;
    using S = typename Op::State;

    static void start(void* states, int64_t n) {
        S* const state = static_cast<S*>(states);
        for (int64_t i = 0; i < n; ++i) state[i] = Op::nothing();
    }

    template <class View>
    static S take_one(S state, const E* x, int64_t step, int64_t rows, View view) {
        int64_t r = 0;
        for (; r + 4 <= rows; r += 4, x += 4 * step)
            state = join_four<Op>(state, x[0], x[step], x[2 * step], x[3 * step], view);
        for (; r < rows; ++r, x += step) state = Op::join(state, Op::of(*x, view));
        return state;
    }

    static void take(void* states, const void* elements, int64_t step, int64_t rows, int64_t n, const ep::Lens& lens) {
        const auto view = Op::view(lens);
        S* const state = static_cast<S*>(states);
        const E* x = static_cast<const E*>(elements);
        if (n == 1) {
            *state = take_one(*state, x, step, rows, view);
            return;
        }
        int64_t r = 0;
        for (; r + 4 <= rows; r += 4, x += 4 * step) {
            const E *const b = x + step, *const c = b + step, *const d = c + step;
            if (step == n) fetch(x + 4 * step, 4 * step);
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) state[i] = join_four<Op>(state[i], x[i], b[i], c[i], d[i], view);
        }
        for (; r < rows; ++r, x += step) {
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) state[i] = Op::join(state[i], Op::of(x[i], view));
        }
    }

    static void merge(void* states, const void* others, int64_t n) {
        S* const state = static_cast<S*>(states);
        const S* const other = static_cast<const S*>(others);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) state[i] = Op::join(state[i], other[i]);
    }

    template <int64_t half>
    static EP_INLINE void halve(S* state, int64_t n, int64_t parts) {
        if (n > half && half >= parts) {
#pragma GCC ivdep
            for (int64_t i = 0; i < half; ++i) state[i] = Op::join(state[i], state[i + half]);
        }
        if constexpr (half > 1) halve<half / 2>(state, n, parts);
    }
    static void fold(void* states, int64_t n, int64_t parts) { halve<ep::LANES>(static_cast<S*>(states), n, parts); }

    // Lanes of long rows; those that are shorter than twice as many have the greatest power of two of them that fits.
    static constexpr int64_t MOST_LANES = 16;

    // Elements of a row by so many lanes, as long as there are as many.
    template <int64_t lanes, class View>
    static EP_INLINE void take_lanes(S* state, const E* x, int64_t n, View view) {
        for (int64_t j = 0; j < lanes; ++j) state[j] = Op::of(x[j], view);
        if constexpr (lanes < MOST_LANES) return;
        int64_t i = lanes;
        for (; i + 4 * lanes <= n; i += 4 * lanes) {
            const E *const a = x + i, *const b = a + lanes, *const c = b + lanes, *const d = c + lanes;
            for (int64_t j = 0; j < lanes; ++j) state[j] = join_four<Op>(state[j], a[j], b[j], c[j], d[j], view);
        }
        for (; i + lanes <= n; i += lanes)
            for (int64_t j = 0; j < lanes; ++j) state[j] = Op::join(state[j], Op::of(x[i + j], view));
    }
    // The same with lanes in vectors.
    template <int64_t lanes, class View>
    static EP_INLINE void take_vectors(S* state, const E* x, int64_t n, View view) {
        constexpr int64_t width = Vector<S>::lanes, vectors = lanes / width;
        const auto at = [x, view](int64_t i) { return Op::of(load(x + i), view); };
        V<S> own[vectors];
#pragma GCC unroll 8
        for (int64_t v = 0; v < vectors; ++v) own[v] = at(v * width);
        int64_t i = lanes;
        for (; lanes == MOST_LANES && i + 4 * lanes <= n; i += 4 * lanes)
#pragma GCC unroll 8
            for (int64_t v = 0; v < vectors; ++v) {
                const int64_t a = i + v * width, c = a + 2 * lanes;
                own[v] = Op::join(own[v], Op::join(Op::join(at(a), at(a + lanes)), Op::join(at(c), at(c + lanes))));
            }
        for (; lanes == MOST_LANES && i + lanes <= n; i += lanes)
#pragma GCC unroll 8
            for (int64_t v = 0; v < vectors; ++v) own[v] = Op::join(own[v], at(i + v * width));
#pragma GCC unroll 8
        for (int64_t v = 0; v < vectors; ++v) store<S>(state + v * width, own[v]);
    }
    // A row of n elements by so many lanes; its last vector may begin before the one ahead ends, by `again` lanes.
    template <int64_t lanes, class View>
    static EP_INLINE void take_row(S* state, const E* x, int64_t n, int64_t again, View view) {
        if constexpr (std::is_arithmetic_v<E> && lanes * sizeof(S) % EP_WIDTH == 0)
            take_vectors<lanes>(state, x, n, view);
        else
            take_lanes<lanes>(state, x, n, view);
        if (again == 0) return;
        const E* const last = x + n - lanes;
        for (int64_t j = 0; j < lanes; ++j)
            state[j] = Op::join(state[j], j < again ? Op::nothing() : Op::of(last[j], view));
    }

    // Many rows: the lanes of a row are joined with their neighbours, rows side by side.
    template <int64_t lanes, int64_t parts, class View>
    static void take_rows(S* states, const E* x, int64_t across, int64_t rows, int64_t n, View view) {
        constexpr int64_t most = 64;
        alignas(ep::LINE) S abreast[most * lanes];
        const int64_t again = (lanes - n % lanes) % lanes;
        for (int64_t r = 0, m; r < rows; r += m, states += m * parts) {
            m = rows - r < most ? rows - r : most;
            for (int64_t k = 0; k < m; ++k, x += across) {
                S state[lanes];
                take_row<lanes>(state, x, n, again, view);
                for (int64_t j = 0; j < lanes; ++j) abreast[k * lanes + j] = state[j];
            }
            for (int64_t left = m * lanes / 2; left >= m * parts; left /= 2) {
#pragma GCC ivdep
                for (int64_t i = 0; i < left / parts; ++i)
                    for (int64_t k = 0; k < parts; ++k)
                        abreast[parts * i + k] =
                            Op::join(abreast[2 * parts * i + k], abreast[2 * parts * i + parts + k]);
            }
            for (int64_t i = 0; i < m * parts; ++i) states[i] = abreast[i];
        }
    }
    template <int64_t parts>
    static void rows_of(S* states, const E* x, int64_t across, int64_t rows, int64_t n, const ep::Lens& lens) {
        const auto view = Op::view(lens);
        if (n >= MOST_LANES)
            take_rows<MOST_LANES, parts>(states, x, across, rows, n, view);
        else if (n >= 8)
            take_rows<8, parts>(states, x, across, rows, n, view);
        else
            take_rows<ep::LEAST_SHORT, parts>(states, x, across, rows, n, view);
    }
    static void rows(void* states, const void* elements, int64_t across, int64_t rows, int64_t n, int64_t parts,
                     const ep::Lens& lens) {
        S* const state = static_cast<S*>(states);
        const E* const x = static_cast<const E*>(elements);
        if constexpr (may_have_parts<Op>)
            if (parts == 2) return rows_of<2>(state, x, across, rows, n, lens);
        rows_of<1>(state, x, across, rows, n, lens);
    }
    // `get` makes a state of an X. Neighbours are taken by two, so that those of rows two apart are loaded once.
    template <int64_t apart, class X, class Get>
    static EP_INLINE void take_places(S* state, const X* x, int64_t across, const int64_t* places, int64_t count,
                                      int64_t n, Get get) {
        const int64_t step = apart != 0 ? apart : across;
        for (int64_t k = 0; k < count; ++k) {
            const X* const at = x + places[k];
            if (k + 1 < count && places[k + 1] == places[k] + 1) {
                ++k;
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i)
                    state[i] = Op::join(state[i], Op::join(get(at[i * step]), get(at[i * step + 1])));
            } else {
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) state[i] = Op::join(state[i], get(at[i * step]));
            }
        }
    }
    template <class X, class Get>
    static EP_INLINE void join_places(void* states, const void* from, int64_t across, const int64_t* places,
                                      int64_t count, int64_t n, Get get) {
        const X* const x = static_cast<const X*>(from);
        S* const state = static_cast<S*>(states);
        start(states, n);
        if (across == 1)
            take_places<1>(state, x, across, places, count, n, get);
        else if (across == 2)
            take_places<2>(state, x, across, places, count, n, get);
        else
            take_places<0>(state, x, across, places, count, n, get);
    }
    static void windows(void* states, const void* elements, int64_t across, const int64_t* places, int64_t count,
                        int64_t n, const ep::Lens& lens) {
        const auto view = Op::view(lens);
        join_places<E>(states, elements, across, places, count, n, [view](E x) { return Op::of(x, view); });
    }
    static void slide(void* states, const void* columns, int64_t across, const int64_t* places, int64_t count,
                      int64_t n) {
        join_places<S>(states, columns, across, places, count, n, [](S x) { return x; });
    }
    static constexpr auto windows_if_free() -> decltype(ep::Joint::windows) {
        if constexpr (takes_windows<Op>)
            return windows;
        else
            return nullptr;
    }
    static constexpr auto slide_if_free() -> decltype(ep::Joint::slide) {
        if constexpr (takes_windows<Op>)
            return slide;
        else
            return nullptr;
    }

    static constexpr auto rows_if_cheap() -> decltype(ep::Joint::rows) {
        if constexpr (std::is_same_v<Op, LogSumExp<E>>)
            return nullptr;
        else
            return rows;
    }

    static constexpr ep::Joint value = {sizeof(S),         start,           take,  rows_if_cheap(),
                                        windows_if_free(), slide_if_free(), merge, fold};
};
