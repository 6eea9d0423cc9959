// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011; constants of Random123's philox.h), many blocks side by side.
// Included once per instruction set, in an anonymous namespace, after isa/lanes.h.
#pragma once

constexpr int64_t PHILOX_BLOCKS = 64, PHILOX_WORDS = 4 * PHILOX_BLOCKS;

// A word in the lower half of each lane; whatever is in the upper halves changes no lower one.
using WordLanes = V<uint64_t>;

// Of lower halves, all 64 bits.
EP_INLINE WordLanes product(WordLanes x, WordLanes y) {
#if EP_WIDTH == 64
    return reinterpret_cast<WordLanes>(
        _mm512_maskz_mul_epu32(0xFF, reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
#elif EP_WIDTH == 32
    return reinterpret_cast<WordLanes>(_mm256_mul_epu32(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(y)));
#elif EP_X86
    return reinterpret_cast<WordLanes>(_mm_mul_epu32(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(y)));
#else
    constexpr uint64_t LOWER = 0xFFFFFFFFU;
    return (x & LOWER) * (y & LOWER);
#endif
}

EP_INLINE WordLanes pair_of(WordLanes low, WordLanes high) {
    return (low & 0xFFFFFFFFU) | high << 32;
}

// Words of a block lie side by side: those of `even` and `odd`, two a lane, in turns.
template <size_t... lane>
EP_INLINE void store_in_turns(uint32_t* words, WordLanes even, WordLanes odd, std::index_sequence<lane...>) {
    typedef int64_t Places __attribute__((vector_size(EP_WIDTH)));
    constexpr size_t lanes = sizeof...(lane);
    auto* const to = reinterpret_cast<uint64_t*>(words);
    store(to, __builtin_shuffle(even, odd, Places{(lane / 2 + lane % 2 * lanes)...}));
    store(to + lanes, __builtin_shuffle(even, odd, Places{(lanes / 2 + lane / 2 + lane % 2 * lanes)...}));
}

// Words of a sequence are numbered by 64 bits, so blocks by 62: block `first` and the blocks after it, in order.
inline void philox(uint64_t seed, uint64_t first, uint32_t* words) {
    // Vectors that are worked on at once: none waits for its products, and all are in registers.
    constexpr int SOME = EP_WIDTH == 64 ? 4 : 2, lanes = Vector<uint64_t>::lanes;
    constexpr auto LANES = std::make_index_sequence<lanes>{};
    WordLanes number = repeated(first);
    for (int i = 0; i < lanes; ++i) number[i] += static_cast<uint64_t>(i);
    for (int64_t done = 0; done < PHILOX_BLOCKS; done += SOME * lanes) {
        WordLanes c[4][SOME];
#pragma GCC unroll 4
        for (int v = 0; v < SOME; ++v, number += static_cast<uint64_t>(lanes)) {
            const WordLanes block = number & (~uint64_t{0} >> 2);
            c[0][v] = block;
            c[1][v] = block >> 32;
            c[2][v] = c[3][v] = WordLanes{};
        }
        auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
        for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9U, k1 += 0xBB67AE85U) {
            const WordLanes even_key = repeated(uint64_t{k0}), odd_key = repeated(uint64_t{k1});
#pragma GCC unroll 4
            for (int v = 0; v < SOME; ++v) {
                const WordLanes even = product(c[0][v], repeated(uint64_t{0xD2511F53U})),
                                odd = product(c[2][v], repeated(uint64_t{0xCD9E8D57U}));
                c[0][v] = (odd >> 32) ^ c[1][v] ^ even_key;
                c[1][v] = odd;
                c[2][v] = (even >> 32) ^ c[3][v] ^ odd_key;
                c[3][v] = even;
            }
        }
#pragma GCC unroll 4
        for (int v = 0; v < SOME; ++v, words += 4 * lanes) {
            store_in_turns(words, pair_of(c[0][v], c[1][v]), pair_of(c[2][v], c[3][v]), LANES);
        }
    }
}
