// Transposition of blocks through buffers that the first cache holds: rows of x come in, unless a whole block is read
// where it lies, whole rows of out go out, and the code between them needs no edges. Rows of the block after the next
// are fetched beside those that go out, not all at once. Compiled once per instruction set.
#include "isa/isa.h"
#include "runtime/moves.h"
#include "transposer.h"

namespace {
#include "isa/lanes.h"
#include "isa/squares.h"

constexpr int RUN = 8192;  // bytes of a row beside few others

template <class U>
EP_INLINE void transpose_tile(const char* in, int64_t in_step, char* out, int64_t out_step) {
    V<U> rows[IN_LANE<U>];
    turn_lane<U>(in, in_step, rows);
    for (int i = 0; i < IN_LANE<U>; ++i) std::memcpy(out + i * out_step, &rows[i], sizeof rows[i]);
}

struct Wide {
    int64_t halves[2];
};

template <>
EP_INLINE void transpose_tile<Wide>(const char* in, int64_t in_step, char* out, int64_t) {
    for (int i = 0; i < EP_WIDTH / LANE; ++i) std::memcpy(out + i * LANE, in + i * in_step, LANE);
}

template <int NBYTES>
EP_INLINE void copy_row(char* to, const char* from, int64_t nbytes) {
    if (nbytes == NBYTES)
        std::memcpy(to, from, NBYTES);
    else
        ep::copy_bytes(to, from, nbytes);
}

// To a row of which whole lines go past the caches.
EP_INLINE void stream_row(char* to, const char* from, int64_t nbytes) {
    const auto odd = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) % ep::LINE);
    const int64_t head = odd < nbytes ? odd : nbytes;
    ep::copy_bytes(to, from, head);
    ep::stream_copy(to + head, from + head, nbytes - head);
}

template <int NBYTES = 0>
EP_INLINE void put_row(const ep::Block& block, char* to, const char* from, int64_t nbytes) {
    if (block.streams)
        stream_row(to, from, nbytes);
    else
        copy_row<NBYTES>(to, from, nbytes);
}

// Into the second cache.
EP_INLINE void fetch_row(const char* at, int64_t nbytes) {
#if defined(__GNUC__)
    for (int64_t line = 0; line < nbytes; line += ep::LINE) __builtin_prefetch(at + line, 0, 2);
#endif
}

// Of at most X bytes a row of x and OUT a row of out.
template <class U, int X, int OUT>
void move(const ep::Block& block) {
    constexpr int64_t SIZE = sizeof(U);
    alignas(ep::LINE) char in[OUT / SIZE * X];
    alignas(ep::LINE) char turned[X / SIZE * OUT];
    const int64_t width = block.width * SIZE, height = block.height * SIZE;
    // Lines that are pages apart share a set of the first cache, which has room for those of wide elements alone.
    const bool lies = SIZE >= 4 && width == X && height == OUT;
    const char* const from = lies ? block.x : in;
    const int64_t step = lies ? block.x_step : X;
    for (int64_t row = 0; !lies && row < block.height; ++row)
        copy_row<X>(in + row * X, block.x + row * block.x_step, width);
    for (int64_t row = 0; row < height; row += EP_WIDTH)
        for (int64_t at = 0; at < width; at += LANE)
            transpose_tile<U>(from + row / SIZE * step + at, step, turned + at / SIZE * OUT + row, OUT);
    const int64_t share = block.later == nullptr ? 0 : (block.height + block.width - 1) / block.width;
    const char* later = block.later;
    for (int64_t row = 0; row < block.width; ++row) {
        for (int64_t i = 0; i < share; ++i, later += block.x_step) fetch_row(later, width);
        put_row<OUT>(block, block.out + row * block.out_step, turned + row * OUT, height);
    }
}

// N contiguous elements of x, which has no gaps, become one element each of N rows. The compiler vectorises the loops;
// elements as wide as a vector gain nothing from a buffer.
template <class U, int N>
void split(const ep::Block& block) {
    constexpr int64_t SIZE = sizeof(U);
    const int64_t n = block.height;
    if constexpr (SIZE == LANE) {
        for (int row = 0; row < N; ++row)
            ep::copy_elements<U>(block.out + row * block.out_step, SIZE, block.x + row * SIZE, N * SIZE, n);
    } else {
        alignas(ep::LINE) U rows[N][RUN / SIZE];
        const U* const from = reinterpret_cast<const U*>(block.x);
        for (int64_t i = 0; i < n; ++i)
            for (int row = 0; row < N; ++row) rows[row][i] = from[i * N + row];
        for (int row = 0; row < N; ++row)
            put_row(block, block.out + row * block.out_step, reinterpret_cast<const char*>(rows[row]), n * SIZE);
    }
}

// N rows of x become elements side by side in out, which lies without gaps.
template <class U, int N>
void join(const ep::Block& block) {
    constexpr int64_t SIZE = sizeof(U);
    const int64_t n = block.width;
    const auto joined = [&](U* to) {
        const U* rows[N];
        for (int row = 0; row < N; ++row) rows[row] = reinterpret_cast<const U*>(block.x + row * block.x_step);
        for (int64_t i = 0; i < n; ++i)
            for (int row = 0; row < N; ++row) to[i * N + row] = rows[row][i];
    };
    if constexpr (SIZE == LANE) {
        joined(reinterpret_cast<U*>(block.out));
    } else {
        alignas(ep::LINE) U side_by_side[N * RUN / SIZE];
        joined(side_by_side);
        put_row(block, block.out, reinterpret_cast<const char*>(side_by_side), n * N * SIZE);
    }
}

template <class U, int X, int OUT>
constexpr ep::Blocks BLOCKS = {X / int{sizeof(U)}, OUT / int{sizeof(U)}, move<U, X, OUT>};
template <class U, int X, int OUT, int FAR_X = X, int FAR_OUT = OUT>
constexpr ep::Transposer TRANSPOSER = {
    sizeof(U),
    RUN / int{sizeof(U)},
    BLOCKS<U, X, OUT>,
    BLOCKS<U, FAR_X, FAR_OUT>,
    {split<U, 2>, split<U, 3>, split<U, 4>},
    {join<U, 2>, join<U, 3>, join<U, 4>},
};

template <size_t size>
constexpr const ep::Transposer* transposer = nullptr;
template <>
constexpr const ep::Transposer* transposer<1> = &TRANSPOSER<uint8_t, 128, 128, 256, 256>;
template <>
constexpr const ep::Transposer* transposer<2> = &TRANSPOSER<uint16_t, 128, 128, 256, 256>;
template <>
constexpr const ep::Transposer* transposer<4> = &TRANSPOSER<uint32_t, 256, 128>;
template <>
constexpr const ep::Transposer* transposer<8> = &TRANSPOSER<uint64_t, 256, 256>;
template <>
constexpr const ep::Transposer* transposer<16> = &TRANSPOSER<Wide, 256, 256>;

#define EP_TRANSPOSE_ROW(T, ...) \
    EP_ROW("copy", "transpose", T, T, ep::transpose, nullptr, nullptr, transposer<sizeof(T_##T)>)

// clang-format off
const ep_row ROWS[] = {EP_STORED(EP_TRANSPOSE_ROW, )};
// clang-format on

}  // namespace

EP_PART
