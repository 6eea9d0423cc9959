// TopK: the best elements of each row by their order and, where that is equal, by their place; so the choice is one
// alone, however it is found.
#include <algorithm>

#include "runtime/count.h"
#include "runtime/part.h"
#include "runtime/pool.h"

extern "C" {
#include "interface.h"
}

namespace {

// An element as a number of its order, and its place in the row.
struct Candidate {
    int64_t key, place;
};

bool comes_before(const Candidate& a, const Candidate& b) {
    return a.key > b.key || (a.key == b.key && a.place < b.place);
}
bool stands_before(const Candidate& a, const Candidate& b) {
    return a.place < b.place;
}

// From this share of a row on, all of it is put in order as far as needed; of less the best so far are kept.
constexpr int64_t SHARE = 8;
// A comparison costs more than a byte of memory does.
constexpr int64_t COST = 4;

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

// Elements that are looked through together: few are better than the best k of a long row so far.
constexpr int64_t TOGETHER = 64;

template <class Order>
bool has_better(const char* x, typename Order::Key flip, typename Order::Key than) {
    typename Order::Key better = 0;
    for (int64_t i = 0; i < TOGETHER; ++i)
        better |= key_at<Order>(x + i * int64_t{sizeof(typename Order::Stored)}, flip) > than ? 1 : 0;
    return better != 0;
}

// The best k so far, of which the last one leaves for each that is better: few in order, more in a heap.
struct Few {
    static constexpr int64_t most = 16;
    static void start(Candidate* found, int64_t k) { std::sort(found, found + k, comes_before); }
    static int64_t least(const Candidate* found, int64_t k) { return found[k - 1].key; }
    static void take(Candidate* found, int64_t k, Candidate next) {
        int64_t i = k - 1;
        for (; i > 0 && found[i - 1].key < next.key; --i) found[i] = found[i - 1];
        found[i] = next;
    }
};
struct Many {
    static void start(Candidate* found, int64_t k) { std::make_heap(found, found + k, comes_before); }
    static int64_t least(const Candidate* found, int64_t) { return found->key; }
    static void take(Candidate* found, int64_t k, Candidate next) {
        std::pop_heap(found, found + k, comes_before);
        found[k - 1] = next;
        std::push_heap(found, found + k, comes_before);
    }
};

// Go through elements [begin, extent), the first k of which are found.
template <class Order, class Best>
void improve(const ep_top_k_plan& g, const char* x, int64_t begin, Candidate* found) {
    using Key = typename Order::Key;
    const Key flip = g.is_smallest != 0 ? -1 : 0;
    const int64_t step = g.step[EP_TOP_X];
    const bool is_contiguous = step == int64_t{sizeof(typename Order::Stored)};
    Best::start(found, g.k);
    for (int64_t i = begin, end; i < g.extent; i = end) {
        end = std::min(i + TOGETHER, g.extent);
        const auto least = static_cast<Key>(Best::least(found, g.k));
        if (is_contiguous && end - i == TOGETHER && !has_better<Order>(x + i * step, flip, least)) continue;
        for (int64_t j = i; j < end; ++j) {
            const int64_t key = key_at<Order>(x + j * step, flip);
            if (key > Best::least(found, g.k)) Best::take(found, g.k, {key, j});
        }
    }
}

// Leave the best k at the front of `found`, in any order.
template <class Order>
void choose(const ep_top_k_plan& g, const char* x, Candidate* found) {
    const typename Order::Key flip = g.is_smallest != 0 ? -1 : 0;
    for (int64_t i = 0; i < g.room; ++i) found[i] = {key_at<Order>(x + i * g.step[EP_TOP_X], flip), i};
    if (g.room == g.extent) {
        if (g.k < g.extent) std::nth_element(found, found + g.k - 1, found + g.extent, comes_before);
    } else if (g.k <= Few::most) {
        improve<Order, Few>(g, x, g.room, found);
    } else {
        improve<Order, Many>(g, x, g.room, found);
    }
}

// The code of a row.
struct Chooser {
    void (*choose)(const ep_top_k_plan& g, const char* x, Candidate* found);
};

struct Job {
    const ep_top_k_plan& plan;
    const Chooser& chooser;
    char* at[EP_TOP_PLACES];
    Candidate* scratch;
};

void deliver(const ep_top_k_plan& g, const Candidate* found, char* const* at) {
    for (int64_t i = 0; i < g.k; ++i) {
        const int64_t place = found[i].place;
        std::memcpy(at[EP_TOP_VALUES] + i * g.step[EP_TOP_VALUES], at[EP_TOP_X] + place * g.step[EP_TOP_X],
                    static_cast<size_t>(g.itemsize));
        std::memcpy(at[EP_TOP_INDICES] + i * g.step[EP_TOP_INDICES], &place, sizeof place);
    }
}

void select_part(void* context, int part) {
    const auto& job = *static_cast<const Job*>(context);
    const ep_top_k_plan& g = job.plan;
    Candidate* const found = job.scratch + part * g.room;
    const int64_t end = g.rows * (part + 1) / g.parts;
    for (int64_t row = g.rows * part / g.parts; row < end; ++row) {
        char* at[EP_TOP_PLACES];
        std::copy_n(job.at, int{EP_TOP_PLACES}, at);
        for (int64_t d = g.ndim - 1, rest = row; d >= 0; rest /= g.shape[d], --d)
            for (int k = 0; k < EP_TOP_PLACES; ++k) at[k] += rest % g.shape[d] * g.stride[k][d];
        job.chooser.choose(g, at[EP_TOP_X], found);
        std::sort(found, found + g.k, g.is_sorted != 0 ? comes_before : stands_before);
        deliver(g, found, at);
    }
}

int top_k(const void* packed) {
    const auto& p = *static_cast<const ep_packed*>(packed);
    const auto& g = ep::plan_of<ep_top_k_plan>(packed);
    ep::count_call();
    Job job = {g, *static_cast<const Chooser*>(g.row->code), {}, reinterpret_cast<Candidate*>(p.at[EP_TOP_PLACES])};
    for (int k = 0; k < EP_TOP_PLACES; ++k) job.at[k] = ep::place_of(packed, k, g.offset[k]);
    ep::parallel(g.parts, select_part, &job);
    return 0;
}

// Elements are compared as integers, so that all instruction sets share a kernel.
template <class Order>
constexpr Chooser CHOOSER = {choose<Order>};

#define EP_TOP_K_ROW(op, T, ...) \
    {"top_k", op, #T, "int64", top_k, nullptr, nullptr, nullptr, nullptr, &CHOOSER<__VA_ARGS__>},
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

EP_SHARED_PART(top_k)

extern "C" int64_t ep_top_k_scratch(ep_top_k_plan* plan, int64_t traffic) {
    plan->parts = static_cast<int32_t>(std::min<int64_t>(plan->rows, ep::parts(COST * traffic)));
    plan->room = plan->extent / SHARE < plan->k ? plan->extent : plan->k;
    return plan->parts * plan->room * int64_t{sizeof(Candidate)};
}
