// TopK: the best elements of each row by their order and, where that is equal, by their place; so the choice is one
// alone, however it is found.
#include <algorithm>

#include "count.h"
#include "native.h"
#include "pool.h"

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

// From this share of a row on, all of it is put in order as far as needed; of less the best so far are kept in a heap.
constexpr int64_t FEW = 8;
// A comparison costs more than a byte of memory does.
constexpr int64_t COST = 4;

template <class Word>
struct Integer {
    using Stored = Word;
    static int64_t key(Word bits) { return bits; }
};
struct Wide {
    using Stored = uint64_t;
    static int64_t key(uint64_t bits) { return static_cast<int64_t>(bits ^ (uint64_t{1} << 63)); }
};
struct Truth {
    using Stored = uint8_t;
    static int64_t key(uint8_t byte) { return byte != 0; }
};
// The bits of a float in the order of numbers: every NaN is one, above infinity; both zeros are one.
template <class Word, Word infinity>
struct Floating {
    using Stored = Word;
    static int64_t key(Word bits) {
        constexpr Word sign = Word{1} << (8 * sizeof(Word) - 1);
        const Word size = bits & static_cast<Word>(~sign);
        if (size > infinity) return std::numeric_limits<int64_t>::max();
        return (bits & sign) != 0 ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
    }
};

template <class Order>
int64_t key_at(const char* at, int64_t flip) {
    typename Order::Stored bits;
    std::memcpy(&bits, at, sizeof bits);
    return Order::key(bits) ^ flip;
}

// Leave the best k at the front of `found`, in any order.
template <class Order>
void choose(const ep_top_k& g, const char* x, Candidate* found) {
    const int64_t flip = g.is_smallest != 0 ? -1 : 0, step = g.step[EP_TOP_X], filled = g.room;
    for (int64_t i = 0; i < filled; ++i) found[i] = {key_at<Order>(x + i * step, flip), i};
    if (filled == g.extent) {
        if (g.k < g.extent) std::nth_element(found, found + g.k - 1, found + g.extent, comes_before);
        return;
    }
    std::make_heap(found, found + g.k, comes_before);
    for (int64_t i = filled; i < g.extent; ++i) {
        const int64_t key = key_at<Order>(x + i * step, flip);
        if (key <= found->key) continue;
        std::pop_heap(found, found + g.k, comes_before);
        found[g.k - 1] = {key, i};
        std::push_heap(found, found + g.k, comes_before);
    }
}

using Choose = void (*)(const ep_top_k& g, const char* x, Candidate* found);

Choose choose_of(int32_t dtype) {
    switch (dtype) {
        case EP_bool:
            return choose<Truth>;
        case EP_int8:
            return choose<Integer<int8_t>>;
        case EP_int16:
            return choose<Integer<int16_t>>;
        case EP_int32:
            return choose<Integer<int32_t>>;
        case EP_int64:
            return choose<Integer<int64_t>>;
        case EP_uint8:
            return choose<Integer<uint8_t>>;
        case EP_uint16:
            return choose<Integer<uint16_t>>;
        case EP_uint32:
            return choose<Integer<uint32_t>>;
        case EP_uint64:
            return choose<Wide>;
        case EP_float16:
            return choose<Floating<uint16_t, 0x7c00>>;
        case EP_bfloat16:
            return choose<Floating<uint16_t, 0x7f80>>;
        case EP_float32:
            return choose<Floating<uint32_t, 0x7f800000>>;
        default:
            return choose<Floating<uint64_t, 0x7ff0000000000000>>;
    }
}

struct Job {
    const ep_top_k& top;
    Choose choose;
    char* at[EP_TOP_PLACES];
    Candidate* scratch;
};

void deliver(const ep_top_k& g, const Candidate* found, char* const* at) {
    for (int64_t i = 0; i < g.k; ++i) {
        const int64_t place = found[i].place;
        std::memcpy(at[EP_TOP_VALUES] + i * g.step[EP_TOP_VALUES], at[EP_TOP_X] + place * g.step[EP_TOP_X],
                    static_cast<size_t>(g.itemsize));
        std::memcpy(at[EP_TOP_INDICES] + i * g.step[EP_TOP_INDICES], &place, sizeof place);
    }
}

void select_part(void* context, int part) {
    const auto& job = *static_cast<const Job*>(context);
    const ep_top_k& g = job.top;
    Candidate* const found = job.scratch + part * g.room;
    const int64_t end = g.rows * (part + 1) / g.parts;
    for (int64_t row = g.rows * part / g.parts; row < end; ++row) {
        char* at[EP_TOP_PLACES];
        std::copy_n(job.at, int{EP_TOP_PLACES}, at);
        for (int64_t d = g.ndim - 1, rest = row; d >= 0; rest /= g.shape[d], --d)
            for (int k = 0; k < EP_TOP_PLACES; ++k) at[k] += rest % g.shape[d] * g.stride[k][d];
        job.choose(g, at[EP_TOP_X], found);
        std::sort(found, found + g.k, g.is_sorted != 0 ? comes_before : stands_before);
        deliver(g, found, at);
    }
}

}  // namespace

extern "C" int64_t ep_top_k_scratch(ep_top_k* top, int64_t traffic) {
    top->parts = static_cast<int32_t>(std::min<int64_t>(top->rows, ep::parts(COST * traffic)));
    top->room = top->extent / FEW < top->k ? top->extent : top->k;
    return top->parts * top->room * int64_t{sizeof(Candidate)};
}

extern "C" int ep_select(const void* packed) {
    const auto& p = *static_cast<const ep_top_k_packed*>(packed);
    const ep_top_k& g = *p.top;
    ep::count_call();
    Job job = {g, choose_of(g.dtype), {}, reinterpret_cast<Candidate*>(p.scratch)};
    for (int k = 0; k < EP_TOP_PLACES; ++k) job.at[k] = reinterpret_cast<char*>(p.at[k] + g.offset[k]);
    ep::parallel(g.parts, select_part, &job);
    return 0;
}

extern "C" int ep_launch_top_k(const ep_top_k* top, intptr_t x, intptr_t values, intptr_t indices, intptr_t scratch) {
    const ep_top_k_packed packed = {top, {x, values, indices}, scratch};
    return ep_select(&packed);
}
