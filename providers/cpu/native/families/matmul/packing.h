// How the factors of a Matmul become panels: strided elements of any type in, lanes of the innermost product out.
// Included once per instruction set, in an anonymous namespace, after lanes.h and squares.h.
#pragma once

// What a lane is made of: `terms` staged elements U that follow each other in depth. Each panel begins with `ahead`
// rows of lanes that are not elements; of those that are, there is a multiple of `whole`.
template <class T, class U = T>
struct Single {
    using Lane = T;
    using Unit = U;
    static constexpr int terms = 1, ahead = 0, whole = 1;
    static constexpr uint32_t flip = 0;
    template <int step>
    static EP_INLINE Lane lane(const Unit* const (&x)[terms], int64_t i) {
        return static_cast<Lane>(x[0][i * step]);
    }
};
// Two elements of 16 bits, the earlier one in the lower half.
template <class U>
struct Pair {
    using Lane = uint32_t;
    using Unit = U;
    static constexpr int terms = 2, ahead = 0, whole = 1;
    static constexpr uint32_t flip = 0;
    template <int step>
    static EP_INLINE Lane lane(const Unit* const (&x)[terms], int64_t i) {
        return half(x[0][i * step]) | half(x[1][i * step]) << 16;
    }
    static EP_INLINE uint32_t half(Unit x) { return static_cast<uint16_t>(static_cast<int16_t>(x)); }
};
// Four bytes, the first one lowest; `flip` turns signed bytes to unsigned ones, and these to signed ones.
template <class U, uint32_t bits>
struct Four {
    using Lane = uint32_t;
    using Unit = U;
    static constexpr int terms = 4, ahead = 1, whole = 1;
    static constexpr uint32_t flip = bits;
    template <int step>
    static EP_INLINE Lane lane(const Unit* const (&x)[terms], int64_t i) {
        return (byte(x[0][i * step]) | byte(x[1][i * step]) << 8 | byte(x[2][i * step]) << 16 |
                byte(x[3][i * step]) << 24) ^
               flip;
    }
    static EP_INLINE uint32_t byte(Unit x) { return static_cast<uint8_t>(x); }
};

// Rows of lanes that so many elements of the depth take.
template <class As>
constexpr int64_t steps_of(int64_t depth) {
    constexpr int64_t elements = As::terms * As::whole;
    return (depth + elements - 1) / elements * As::whole;
}

template <class U>
constexpr U NOTHING[ep::BLOCK] = {};

// Bytes of each row that are read at a time where rows lie as they are read: whole pairs of lines, which come in
// together, yet of so few panels that their lines do not get in each other's way.
constexpr int64_t SPAN = 512;

// Along the width: a row of lanes at a time, of as many panels as `SPAN` says, or as a block has room for.
template <class As, int COLUMNS>
void pack_across(const ep::Factor& factor, typename As::Lane* panels) {
    using U = typename As::Unit;
    using L = typename As::Lane;
    alignas(ep::LINE) U blocks[As::terms][ep::BLOCK];
    const int64_t steps = steps_of<As>(factor.depth), pitch = (As::ahead + steps) * COLUMNS;
    const bool lies = factor.storage->is_direct && factor.width_step == factor.storage->size;
    constexpr int64_t spanned = std::max<int64_t>(1, SPAN / (COLUMNS * int64_t{sizeof(U)})) * COLUMNS;
    const int64_t at_once = lies ? spanned : ep::BLOCK / COLUMNS * COLUMNS;
    for (int64_t from = 0; from < factor.width; from += at_once) {
        L* const panel = panels + from / COLUMNS * pitch + As::ahead * COLUMNS;
        const int64_t width = std::min(at_once, factor.width - from);
        for (int64_t step = 0; step < steps; ++step) {
            const U* rows[As::terms];
            for (int term = 0; term < As::terms; ++term) {
                const int64_t d = step * As::terms + term;
                const char* const row = factor.at + d * factor.depth_step + from * factor.width_step;
                rows[term] =
                    d >= factor.depth ? NOTHING<U>
                    : lies ? reinterpret_cast<const U*>(row)
                           : static_cast<const U*>(factor.storage->load(row, factor.width_step, width, blocks[term]));
            }
            auto* at = panel + step * COLUMNS;
            int64_t w = 0;
            for (; w + COLUMNS <= width; w += COLUMNS, at += pitch) {
                // Unrolled, these are single elements to GCC, because both sides may be the same memory.
#pragma GCC ivdep
#pragma GCC unroll 1
                for (int64_t i = 0; i < COLUMNS; ++i) at[i] = As::template lane<1>(rows, w + i);
            }
            if (w < width)
                for (int64_t i = 0; i < COLUMNS; ++i) at[i] = w + i < width ? As::template lane<1>(rows, w + i) : L{0};
        }
    }
}

// The first `count` lanes of a vector.
template <int64_t count, class L>
EP_INLINE void store_first(L* to, const L* from) {
#if EP_WIDTH == 64
    using T = std::conditional_t<sizeof(L) == 4, float, double>;
    store_part<T>(reinterpret_cast<T*>(to), count, reinterpret_cast<V<T>>(_mm512_loadu_si512(from)));
#else
    std::memcpy(to, from, sizeof(L) * count);
#endif
}

// Along the depth: as many rows as a vector has lanes, turned in registers. Rows that lie as lanes are read in place.
template <class As, int COLUMNS>
void pack_along(const ep::Factor& factor, typename As::Lane* panels) {
    using U = typename As::Unit;
    using L = typename As::Lane;
    using Word = std::conditional_t<sizeof(L) == 4, uint32_t, uint64_t>;
    constexpr int64_t lanes = Vector<L>::lanes, square = IN_LANE<L>;
    alignas(ep::LINE) L buffer[Vector<L>::lanes][ep::BLOCK];
    alignas(ep::LINE) U block[std::max<int64_t>(ep::BLOCK, ep::DEPTH * As::terms)];
    const int64_t steps = steps_of<As>(factor.depth);
    const bool lies = factor.storage->is_direct && factor.depth_step == factor.storage->size &&
                      sizeof(U) * As::terms == sizeof(L) && std::is_integral_v<U> == std::is_integral_v<L> &&
                      factor.depth == steps * As::terms;
    const auto fill = [&](int64_t w, L* to) {
        if (w >= factor.width) {
            std::memset(to, 0, static_cast<size_t>(steps) * sizeof(L));
            return;
        }
        const U* x = static_cast<const U*>(
            factor.storage->load(factor.at + w * factor.width_step, factor.depth_step, factor.depth, block));
        if (factor.depth != steps * As::terms) {
            if (x != block) std::memcpy(block, x, static_cast<size_t>(factor.depth) * sizeof(U));
            for (int64_t i = factor.depth; i < steps * As::terms; ++i) block[i] = 0;
            x = block;
        }
        const U* rows[As::terms];
        for (int term = 0; term < As::terms; ++term) rows[term] = x + term;
        for (int64_t i = 0; i < steps; ++i) to[i] = As::template lane<As::terms>(rows, i);
    };
    for (int64_t w = 0; w < factor.width; w += COLUMNS) {
        L* const panel = panels + w / COLUMNS * (As::ahead + steps) * COLUMNS + As::ahead * COLUMNS;
#pragma GCC unroll 8
        for (int part = 0; part < COLUMNS; part += lanes) {
            constexpr int64_t whole = COLUMNS;
            const int64_t from = w + part;
            // Rows of the panel, beyond which nothing is read.
            const int64_t used = std::min<int64_t>(lanes, COLUMNS - part);
            const bool is_there = lies && from + used <= factor.width;
            if (!is_there)
                for (int64_t i = 0; i < lanes; ++i) fill(from + i < w + whole ? from + i : factor.width, buffer[i]);
            const char* const in =
                is_there ? factor.at + from * factor.width_step : reinterpret_cast<const char*>(buffer);
            const int64_t in_step = is_there ? factor.width_step : int64_t{sizeof buffer[0]};
            // Elements that are read in place are not flipped yet.
            const Word flip = is_there ? Word{As::flip} : Word{0};
            const auto put = [&](int64_t d, const L* row) {
                if (COLUMNS - part >= lanes)
                    std::memcpy(panel + d * COLUMNS + part, row, sizeof(L) * lanes);
                else
                    store_first<COLUMNS % lanes>(panel + d * COLUMNS + part, row);
            };
            int64_t d = 0;
            for (; d + square <= steps; d += square) {
                V<Word> columns[square];
                turn_lane<Word>(in + d * int64_t{sizeof(L)}, in_step, columns, static_cast<int>(used));
#pragma GCC unroll 4
                for (int i = 0; i < square; ++i) {
                    if constexpr (As::flip != 0) columns[i] ^= flip;
                    put(d + i, reinterpret_cast<const L*>(&columns[i]));
                }
            }
            for (; d < steps; ++d) {
                Word row[lanes] = {};
                for (int64_t i = 0; i < used; ++i) {
                    std::memcpy(&row[i], in + i * in_step + d * int64_t{sizeof(L)}, sizeof(L));
                    row[i] ^= flip;
                }
                put(d, reinterpret_cast<const L*>(row));
            }
        }
    }
}

// Along the smaller stride, because that way a cache line is used at once.
template <class As, int COLUMNS>
void pack(const ep::Factor& factor, void* panels) {
    auto* const lanes = static_cast<typename As::Lane*>(panels);
    if (std::abs(factor.width_step) <= std::abs(factor.depth_step))
        pack_across<As, COLUMNS>(factor, lanes);
    else
        pack_along<As, COLUMNS>(factor, lanes);
}

// Complex elements are lanes as they are, conjugate ones with the sign of their imaginary part turned.
template <class T, int COLUMNS>
void pack_complex(const ep::Factor& factor, void* panels) {
    auto* const lanes = static_cast<Complex<T>*>(panels);
    const int64_t panel = factor.depth * COLUMNS, size = (factor.width + COLUMNS - 1) / COLUMNS * panel;
    if constexpr (sizeof(Complex<T>) == sizeof(uint64_t)) {
        pack<Single<uint64_t>, COLUMNS>(factor, panels);
    } else if (std::abs(factor.width_step) <= std::abs(factor.depth_step)) {
        pack_across<Single<Complex<T>>, COLUMNS>(factor, lanes);
    } else {
        alignas(ep::LINE) Complex<T> block[ep::BLOCK];
        if (factor.width % COLUMNS != 0) std::fill(lanes + size - panel, lanes + size, Complex<T>{});
        for (int64_t w = 0; w < factor.width; ++w) {
            const char* const at = factor.at + w * factor.width_step;
            const auto* const x =
                static_cast<const Complex<T>*>(factor.storage->load(at, factor.depth_step, factor.depth, block));
            Complex<T>* const to = lanes + w / COLUMNS * panel + w % COLUMNS;
            for (int64_t d = 0; d < factor.depth; ++d) to[d * COLUMNS] = x[d];
        }
    }
    if (factor.is_conjugate)
        for (int64_t i = 0; i < size; ++i) lanes[i].im = -lanes[i].im;
}
