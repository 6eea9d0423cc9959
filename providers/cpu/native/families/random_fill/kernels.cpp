// The rows of RandomFill: elements from words. Compiled once per instruction set; results that depend on bits alone are
// the same in all of them. A body's first operand is an ep::Draw; its `word` belongs to the first element of the block.
#include "isa/isa.h"
#include "random_fill.h"

namespace {

// clang-format off: each of these needs the ones above it
#include "math/normal_quantile.h"
#include "isa/lanes.h"
#include "philox.h"
// clang-format on

// W as it lies in memory: a word, or two of which the first is the low half.
template <class T>
using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class W>
EP_INLINE W word_at(const uint32_t* words, int64_t i) {
    if constexpr (sizeof(W) == 8)
        return uint64_t{words[2 * i + 1]} << 32 | words[2 * i];
    else
        return words[i];
}

// R is staged: 16-bit types go through float, because their own bits are fewer.
template <class T>
struct Words {
    static EP_INLINE uint32_t of(uint32_t word, const ep::Draw&) { return word; }
};

template <class T>
constexpr int random_bits = 24;
template <>
constexpr int random_bits<Half> = 11;
template <>
constexpr int random_bits<BFloat16> = 8;
template <>
constexpr int random_bits<double> = 53;

template <class T>
struct Uniform {
    static EP_INLINE Staged<T> of(Word<T> word, const ep::Draw&) {
        using R = Staged<T>;
        constexpr int bits = random_bits<T>;
        // As signed numbers, which they fit: vectors convert these faster.
        const auto steps = static_cast<std::make_signed_t<Word<T>>>(word >> (8 * sizeof(Word<T>) - bits));
        return static_cast<R>(steps) * (R{1} / static_cast<R>(uint64_t{1} << bits));
    }
};

template <class T>
struct Normal {
    static EP_INLINE Staged<T> of(Word<T> word, const ep::Draw&) { return normal_of<Staged<T>>(word); }
};

template <class T>
struct Bernoulli {
    static EP_INLINE Boolean of(uint32_t word, const ep::Draw& draw) {
        return {static_cast<uint8_t>(word < draw.bound)};
    }
};

template <class T>
struct Integers {
    static EP_INLINE T of(Word<T> word, const ep::Draw& draw) {
        if constexpr (sizeof(T) == 8) {
            const auto product = static_cast<unsigned __int128>(word) * draw.bound + word;
            return static_cast<T>(draw.low + static_cast<uint64_t>(product >> 64));
        } else {
            return static_cast<T>(draw.low + ((word * draw.bound + word) >> 32));
        }
    }
};

template <template <class> class Op, class T>
void draw_body(const void* from, const void*, void* out, int64_t n, const double*, int) {
    using W = Word<T>;
    constexpr int64_t each = sizeof(W) / sizeof(uint32_t);
    const ep::Draw draw = *static_cast<const ep::Draw*>(from);
    auto* const to = static_cast<Staged<T>*>(out);
    alignas(ep::LINE) uint32_t words[PHILOX_WORDS];
    for (int64_t i = 0, m; i < n; i += m) {
        const uint64_t word = draw.word + static_cast<uint64_t>(i * each);
        const auto skipped = static_cast<int64_t>(word % 4);
        m = (PHILOX_WORDS - skipped) / each;
        m = n - i < m ? n - i : m;
        philox(draw.seed, word / 4, words);
        const uint32_t* const at = words + skipped;
        for (int64_t k = 0; k < m; ++k) to[i + k] = Op<T>::of(word_at<W>(at, k), draw);
    }
}

#define EP_DRAW_ROW(T, Op, op)                                                                                      \
    {"random_fill",        #op,    "uint64", #T, ep::random_fill, EP_STORAGE(T_uint64), EP_STORAGE(T_##T), nullptr, \
     draw_body<Op, T_##T>, nullptr},

// clang-format off
const ep_row ROWS[] = {
    EP_DRAW_ROW(uint32, Words, words)
    EP_FLOATS(EP_DRAW_ROW, Uniform, uniform)
    EP_FLOATS(EP_DRAW_ROW, Normal, normal)
    EP_BOOLS(EP_DRAW_ROW, Bernoulli, bernoulli)
    EP_INTEGERS(EP_DRAW_ROW, Integers, integers)
};
// clang-format on

}  // namespace

EP_PART
