// Loops over strips of scores: queries side by side in vectors, a row of them for each key, so that a softmax needs no
// sum across lanes, and the second product reads shares where they lie. Included once per instruction set, in an
// anonymous namespace, after softmax's exponentials.h and matmul's products.h.
#pragma once

template <class T>
void multiply_scores(void* scores, int64_t keys, double factor) {
    const T by = static_cast<T>(factor);
    T* const at = static_cast<T*>(scores);
    for (int64_t i = 0; i < keys * PANEL_COLUMNS<T>; ++i) at[i] *= by;
}

template <class T, size_t... lane>
EP_INLINE V<T> counted(T from, std::index_sequence<lane...>) {
    return V<T>{(from + static_cast<T>(lane))...};
}

// The largest scores of a strip, and each score as it is after scale, mask and causality.
template <class T, bool is_masked>
EP_INLINE void measure(const ep::Strip& strip, V<T> (&most)[VECTORS]) {
    constexpr int lanes = Vector<T>::lanes;
    const V<T> scale = repeated(static_cast<T>(strip.scale)), none = repeated(NONE<T>);
    T* const scores = static_cast<T*>(strip.scores);
    const T* const mask = static_cast<const T*>(strip.mask);
    const auto score = [&](int64_t at) EP_LAMBDA {
        const V<T> x = load(scores + at) * scale;
        if constexpr (!is_masked) return x;
        const V<T> added = load(mask + at);
        return added == none ? none : x + added;
    };
    const int64_t whole = std::min(std::max<int64_t>(strip.last + 1, 0), strip.keys);
    for (int64_t key = 0; key < whole; ++key)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) {
            const int64_t at = (key * VECTORS + v) * lanes;
            const V<T> x = score(at);
            most[v] = Larger{}(x, most[v]);
            store<T>(scores + at, x);
        }
    for (int64_t key = whole; key < strip.keys; ++key) {
        const V<T> first = repeated(static_cast<T>(key - strip.last));
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) {
            const int64_t at = (key * VECTORS + v) * lanes;
            const V<T> place = counted<T>(static_cast<T>(v * lanes), std::make_index_sequence<size_t{lanes}>{});
            const V<T> x = place < first ? none : score(at);
            most[v] = Larger{}(x, most[v]);
            store<T>(scores + at, x);
        }
    }
}

// Scores become e^(score - base); the sums of four chains of them are returned in `sum`.
template <class T>
EP_INLINE void exponentiate(T* scores, int64_t keys, const V<T> (&base)[VECTORS], V<T> (&sum)[VECTORS]) {
    constexpr int lanes = Vector<T>::lanes, chains = 4;
    V<T> sums[chains][VECTORS] = {};
    const auto add = [&](int64_t key, int chain) EP_LAMBDA {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) {
            T* const at = scores + (key * VECTORS + v) * lanes;
            const V<T> share = falling<T>(load(at) - base[v]);
            sums[chain][v] += share;
            store<T>(at, share);
        }
    };
    int64_t key = 0;
    for (; key + chains <= keys; key += chains)
#pragma GCC unroll 4
        for (int chain = 0; chain < chains; ++chain) add(key + chain, chain);
    for (; key < keys; ++key) add(key, 0);
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; ++v) sum[v] = (sums[0][v] + sums[1][v]) + (sums[2][v] + sums[3][v]);
}

template <class T>
bool share(const ep::Strip& strip) {
    constexpr int lanes = Vector<T>::lanes;
    auto *const largest = static_cast<T*>(strip.most), *const total = static_cast<T*>(strip.sum),
                *const factors = static_cast<T*>(strip.factor);
    V<T> most[VECTORS], base[VECTORS], sum[VECTORS];
    for (int v = 0; v < VECTORS; ++v) most[v] = load(largest + v * lanes);
    if (strip.mask == nullptr)
        measure<T, false>(strip, most);
    else
        measure<T, true>(strip, most);
    for (int v = 0; v < VECTORS; ++v) base[v] = origin<T>(most[v]);
    exponentiate<T>(static_cast<T*>(strip.scores), strip.keys, base, sum);
    bool is_one = true;
    for (int v = 0; v < VECTORS; ++v) {
        const V<T> factor = falling<T>(load(largest + v * lanes) - base[v]);
        store<T>(factors + v * lanes, factor);
        store<T>(total + v * lanes, load(total + v * lanes) * factor + sum[v]);
        store<T>(largest + v * lanes, most[v]);
    }
    for (int c = 0; c < PANEL_COLUMNS<T>; ++c) is_one = is_one && factors[c] == 1;
    return !is_one;
}

template <class T>
void rescale(void* sums, int64_t rows, const void* factor) {
    constexpr int lanes = Vector<T>::lanes;
    T* const at = static_cast<T*>(sums);
    for (int v = 0; v < VECTORS; ++v) {
        const V<T> by = load(static_cast<const T*>(factor) + v * lanes);
        for (int64_t row = 0; row < rows; ++row) {
            T* const to = at + (row * VECTORS + v) * lanes;
            store<T>(to, load(to) * by);
        }
    }
}

// A query without a key has no share and is 0.
template <class T>
void finish(const void* sums, int64_t columns, const void* sum, void* results) {
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr int lanes = Vector<T>::lanes, queries = PANEL_COLUMNS<T>, square = IN_LANE<T>;
    const T *const from = static_cast<const T*>(sums), *const total = static_cast<const T*>(sum);
    T *const to = static_cast<T*>(results), by[queries];
    for (int c = 0; c < queries; ++c) by[c] = total[c] == 0 ? T{0} : 1 / total[c];
    int64_t e = 0;
    for (; e + lanes <= columns; e += lanes)
        for (int c = 0; c < queries; c += square) {
            V<Word> turned[square];
            turn_lane<Word>(reinterpret_cast<const char*>(from + e * queries + c), queries * int64_t{sizeof(T)},
                            turned);
            for (int i = 0; i < square; ++i)
                store<T>(to + (c + i) * columns + e, reinterpret_cast<V<T>>(turned[i]) * repeated(by[c + i]));
        }
    for (; e < columns; ++e)
        for (int c = 0; c < queries; ++c) to[c * columns + e] = from[e * queries + c] * by[c];
}

template <class T>
void choose(const char* bools, int64_t step, int64_t n, void* mask) {
    T* const to = static_cast<T*>(mask);
    for (int64_t i = 0; i < n; ++i) to[i] = bools[i * step] != 0 ? T{0} : NONE<T>;
}
