// The rows of TopK: how the best of a row are found. Elements are compared as integers. Compiled once per instruction
// set, all of which choose the same.
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "isa/isa.h"
#include "top_k.h"

namespace {

#include "isa/lanes.h"

// Keys are of 32 bits where these suffice, so that vectors hold more of them.
template <class Word>
struct Integer {
    using Stored = Word;
    using Key = std::conditional_t<(sizeof(Word) > 4), int64_t, int32_t>;
    static Key key(Word bits) { return static_cast<Key>(bits); }
};
template <class Word>
struct Unsigned {
    using Stored = Word;
    using Key = std::make_signed_t<Word>;
    static Key key(Word bits) { return static_cast<Key>(bits ^ (Word{1} << (8 * sizeof(Word) - 1))); }
};
struct Truth {
    using Stored = uint8_t;
    using Key = int32_t;
    static Key key(uint8_t byte) { return byte != 0; }
};
// The bits of a float in the order of numbers: every NaN is one, above infinity; both zeros are one.
template <class Word, Word infinity>
struct Floating {
    using Stored = Word;
    using Key = std::conditional_t<(sizeof(Word) > 4), int64_t, int32_t>;
    static Key key(Word bits) {
        constexpr Word sign = Word{1} << (8 * sizeof(Word) - 1);
        const Word size = bits & static_cast<Word>(~sign);
        const Key number = (bits & sign) != 0 ? -static_cast<Key>(size) : static_cast<Key>(size);
        return size > infinity ? std::numeric_limits<Key>::max() : number;
    }
};

// `flip` is -1 for the order from the smallest on.
template <class Order>
typename Order::Key key_at(const char* at, typename Order::Key flip) {
    typename Order::Stored bits;
    std::memcpy(&bits, at, sizeof bits);
    return Order::key(bits) ^ flip;
}

template <class Order>
bool has_better(const char* x, typename Order::Key flip, typename Order::Key than) {
    typename Order::Key better = 0;
    for (int64_t i = 0; i < ep::TOGETHER; ++i)
        better |= key_at<Order>(x + i * int64_t{sizeof(typename Order::Stored)}, flip) > than ? 1 : 0;
    return better != 0;
}

// The best k so far, of which the last one leaves for each that is better: few in order, more in a heap.
struct Few {
    static constexpr int64_t most = 16;
    static void start(ep::Candidate* found, int64_t k) { std::sort(found, found + k, ep::ComesBefore{}); }
    static int64_t least(const ep::Candidate* found, int64_t k) { return found[k - 1].key; }
    static void take(ep::Candidate* found, int64_t k, ep::Candidate next) {
        int64_t i = k - 1;
        for (; i > 0 && found[i - 1].key < next.key; --i) found[i] = found[i - 1];
        found[i] = next;
    }
};
struct Many {
    static void start(ep::Candidate* found, int64_t k) { std::make_heap(found, found + k, ep::ComesBefore{}); }
    static int64_t least(const ep::Candidate* found, int64_t) { return found->key; }
    static void take(ep::Candidate* found, int64_t k, ep::Candidate next) {
        std::pop_heap(found, found + k, ep::ComesBefore{});
        found[k - 1] = next;
        std::push_heap(found, found + k, ep::ComesBefore{});
    }
};

// Go through elements [begin, extent), the first k of which are found.
template <class Order, class Best>
void improve(const ep_top_k_plan& g, const char* x, int64_t begin, ep::Candidate* found) {
    using Key = typename Order::Key;
    const Key flip = g.is_smallest != 0 ? -1 : 0;
    const int64_t step = g.step[EP_TOP_X];
    const bool is_contiguous = step == int64_t{sizeof(typename Order::Stored)};
    Best::start(found, g.k);
    for (int64_t i = begin, end; i < g.extent; i = end) {
        end = std::min(i + ep::TOGETHER, g.extent);
        const auto least = static_cast<Key>(Best::least(found, g.k));
        if (is_contiguous && end - i == ep::TOGETHER && !has_better<Order>(x + i * step, flip, least)) continue;
        for (int64_t j = i; j < end; ++j) {
            const int64_t key = key_at<Order>(x + j * step, flip);
            if (key > Best::least(found, g.k)) Best::take(found, g.k, {key, j});
        }
    }
}

// The k-th greatest of n numbers, some of which change places.
template <class Key>
Key kth_greatest(int64_t k, Key* numbers, int64_t n) {
    constexpr int64_t few = 32;
    if (n > few) {
        std::nth_element(numbers, numbers + k - 1, numbers + n, std::greater<Key>());
        return numbers[k - 1];
    }
    // Each is compared with all, so that no comparison waits for another.
    Key least = std::numeric_limits<Key>::max();
    for (int64_t i = 0; i < n; ++i) {
        Key greater = 0;
        for (int64_t j = 0; j < n; ++j) greater += numbers[j] > numbers[i] ? 1 : 0;
        least = greater < k ? std::min(least, numbers[i]) : least;
    }
    return least;
}

// A bit for each lane that is below 0.
template <class T>
EP_INLINE uint64_t signs_of(V<T> x) {
#if EP_WIDTH == 64 && !EP_EMULATED
    if constexpr (sizeof(T) == 4) return _mm512_movepi32_mask(reinterpret_cast<__m512i>(x));
    if constexpr (sizeof(T) == 8) return _mm512_movepi64_mask(reinterpret_cast<__m512i>(x));
#elif EP_WIDTH == 32
    if constexpr (sizeof(T) == 4) return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(x)));
    if constexpr (sizeof(T) == 8) return static_cast<uint32_t>(_mm256_movemask_pd(reinterpret_cast<__m256d>(x)));
#endif
    uint64_t bits = 0;
    for (int i = 0; i < Vector<T>::lanes; ++i) bits |= uint64_t{x[i] < 0} << i;
    return bits;
}

// The best k of a long row, of neighbours: each of many lanes has its best element, and no more than those that are no
// worse than the k-th of these are candidates. Returns false where there are more than have room: equal ones, or many
// in few lanes.
template <class Order>
bool sieve(const ep_top_k_plan& g, const char* x, ep::Candidate* found) {
    using Key = typename Order::Key;
    constexpr int64_t size = sizeof(typename Order::Stored), together = ep::TOGETHER;
    const Key flip = g.is_smallest != 0 ? -1 : 0;
    int64_t lanes = ep::lanes_of(g.k);
    const int64_t whole = g.extent / lanes * lanes;
    alignas(ep::LINE) Key best[ep::lanes_of(ep::MOST_SIEVED)];
    const auto key = [&](int64_t i) { return key_at<Order>(x + i * size, flip); };
    for (int64_t j = 0; j < lanes; ++j) best[j] = key(j);
    for (int64_t i = lanes; i < whole; i += lanes)
        for (int64_t j = 0; j < lanes; ++j) best[j] = std::max(best[j], key(i + j));
    for (int64_t j = 0; j < g.extent - whole; ++j) best[j] = std::max(best[j], key(whole + j));
    // Of twice as many lanes the k-th has few more candidates.
    for (; lanes % 2 == 0 && lanes >= 4 * g.k; lanes /= 2)
        for (int64_t j = 0; j < lanes / 2; ++j) best[j] = std::max(best[j], best[j + lanes / 2]);
    const Key least = kth_greatest(g.k, best, lanes);

    int64_t count = 0;
    for (int64_t i = 0; i < g.extent; i += together) {
        if (count + together > g.room) return false;
        const int64_t n = std::min(together, g.extent - i);
        alignas(ep::LINE) Key keys[together] = {};
        for (int64_t j = 0; j < n; ++j) keys[j] = key(i + j);
        constexpr int wide = Vector<Key>::lanes;
        uint64_t candidates = 0;
        for (int64_t j = 0; j < together; j += wide)
            candidates |= signs_of<Key>(load(keys + j) >= repeated(least)) << j;
        for (candidates &= ~uint64_t{0} >> (together - n); candidates != 0; candidates &= candidates - 1) {
            const int64_t j = __builtin_ctzll(candidates);
            found[count++] = {keys[j], i + j};
        }
    }
    if (count > g.k) std::nth_element(found, found + g.k - 1, found + count, ep::ComesBefore{});
    return true;
}

template <class Order>
void choose(const ep_top_k_plan& g, const char* x, ep::Candidate* found) {
    if (ep::is_sieved(g) && sieve<Order>(g, x, found)) return;
    const typename Order::Key flip = g.is_smallest != 0 ? -1 : 0;
    const int64_t begin = g.room == g.extent ? g.extent : g.k;
    for (int64_t i = 0; i < begin; ++i) found[i] = {key_at<Order>(x + i * g.step[EP_TOP_X], flip), i};
    if (begin == g.extent) {
        if (g.k < g.extent) std::nth_element(found, found + g.k - 1, found + g.extent, ep::ComesBefore{});
    } else if (g.k <= Few::most) {
        improve<Order, Few>(g, x, begin, found);
    } else {
        improve<Order, Many>(g, x, begin, found);
    }
}

template <class Order>
constexpr ep::Chooser CHOOSER = {choose<Order>};

#define EP_TOP_K_ROW(op, T, ...) \
    {"top_k", op, #T, "int64", ep::top_k, nullptr, nullptr, nullptr, nullptr, &CHOOSER<__VA_ARGS__>},
#define EP_TOP_K_ROWS(T, ...) EP_TOP_K_ROW("largest", T, __VA_ARGS__) EP_TOP_K_ROW("smallest", T, __VA_ARGS__)

// clang-format off
const ep_row ROWS[] = {
    EP_TOP_K_ROWS(bool, Truth)
    EP_TOP_K_ROWS(int8, Integer<int8_t>)
    EP_TOP_K_ROWS(int16, Integer<int16_t>)
    EP_TOP_K_ROWS(int32, Integer<int32_t>)
    EP_TOP_K_ROWS(int64, Integer<int64_t>)
    EP_TOP_K_ROWS(uint8, Integer<uint8_t>)
    EP_TOP_K_ROWS(uint16, Integer<uint16_t>)
    EP_TOP_K_ROWS(uint32, Unsigned<uint32_t>)
    EP_TOP_K_ROWS(uint64, Unsigned<uint64_t>)
    EP_TOP_K_ROWS(float16, Floating<uint16_t, 0x7c00>)
    EP_TOP_K_ROWS(bfloat16, Floating<uint16_t, 0x7f80>)
    EP_TOP_K_ROWS(float32, Floating<uint32_t, 0x7f800000>)
    EP_TOP_K_ROWS(float64, Floating<uint64_t, 0x7ff0000000000000>)
};
// clang-format on

}  // namespace

EP_PART
