// Squares of elements transposed in registers. Included once per instruction set, in an anonymous namespace, after
// lanes.h.
#pragma once

// Bytes of a lane of 128 bits, within which elements move.
constexpr int LANE = 16;
template <class U>
constexpr int IN_LANE = LANE / int{sizeof(U)};

// Elements of a and b in turn, in each lane from its lower half, or from its upper one.
template <class U, int half, size_t... i>
EP_INLINE V<U> interleaved(V<U> a, V<U> b, std::index_sequence<i...>) {
    constexpr size_t n = Vector<U>::lanes, k = IN_LANE<U>;
#if defined(__clang__)
    return __builtin_shufflevector(a, b, int(i / k * k + half * k / 2 + i % k / 2 + i % 2 * n)...);
#else
    return __builtin_shuffle(a, b, V<U>{U(i / k * k + half * k / 2 + i % k / 2 + i % 2 * n)...});
#endif
}

// Lane q is read from the row q strides on; lanes from `count` on hold anything.
template <class U>
EP_INLINE V<U> gathered(const char* at, int64_t stride, int count = EP_WIDTH / LANE) {
    V<U> vector;
#if EP_WIDTH == 64
    __m512i lanes = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    if (count > 1) lanes = _mm512_inserti64x2(lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + stride)), 1);
    if (count > 2)
        lanes = _mm512_inserti64x2(lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 2 * stride)), 2);
    if (count > 3)
        lanes = _mm512_inserti64x2(lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 3 * stride)), 3);
    vector = reinterpret_cast<V<U>>(lanes);
#elif EP_WIDTH == 32
    __m256i lanes = _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    if (count > 1)
        lanes = _mm256_inserti128_si256(lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + stride)), 1);
    vector = reinterpret_cast<V<U>>(lanes);
#else
    static_cast<void>(stride);
    static_cast<void>(count);
    std::memcpy(&vector, at, sizeof vector);
#endif
    return vector;
}

// Lane q is written to the row q strides on.
template <class U>
EP_INLINE void scattered(V<U> vector, char* at, int64_t stride) {
    for (int q = 0; q < EP_WIDTH / LANE; ++q)
        std::memcpy(at + q * stride, reinterpret_cast<const char*>(&vector) + q * LANE, LANE);
}

// Squares in lanes, transposed side by side by interleaving halves of the registers again and again.
template <class U>
EP_INLINE void transpose_lanes(V<U> (&rows)[IN_LANE<U>]) {
    constexpr int k = IN_LANE<U>;
    constexpr auto all = std::make_index_sequence<Vector<U>::lanes>{};
    V<U> other[k];
    for (int width = 1; width < k; width *= 2) {
        for (int i = 0; i < k / 2; ++i) {
            other[2 * i] = interleaved<U, 0>(rows[i], rows[i + k / 2], all);
            other[2 * i + 1] = interleaved<U, 1>(rows[i], rows[i + k / 2], all);
        }
        for (int i = 0; i < k; ++i) rows[i] = other[i];
    }
}

// As many rows as a vector has elements, a lane wide: each element of a lane becomes a row of `columns`. Rows from
// `rows` on are not read, and their columns hold anything.
template <class U>
EP_INLINE void turn_lane(const char* in, int64_t in_step, V<U> (&columns)[IN_LANE<U>], int rows = Vector<U>::lanes) {
    constexpr int k = IN_LANE<U>;
    for (int i = 0; i < k; ++i)
        columns[i] = i < rows ? gathered<U>(in + i * in_step, k * in_step, (rows - i + k - 1) / k) : V<U>{};
    transpose_lanes<U>(columns);
}
// The way back.
template <class U>
EP_INLINE void turn_back(V<U> (&columns)[IN_LANE<U>], char* out, int64_t out_step) {
    constexpr int k = IN_LANE<U>;
    transpose_lanes<U>(columns);
    for (int i = 0; i < k; ++i) scattered<U>(columns[i], out + i * out_step, k * out_step);
}
