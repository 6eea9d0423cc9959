// The rows of ArgReduce: the first of the greatest elements, in lanes. Compiled once per instruction set.
#include <algorithm>

#include "isa/isa.h"
#include "seeker.h"

namespace {

// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "types/order.h"
#include "types/loads.h"
#include "row.h"
// clang-format on

// The key by which elements are compared: an integer; equal elements have equal keys.
template <class T, bool is_float = std::is_floating_point_v<T>>
struct Compared {
    using Key = T;
    static EP_INLINE Key of(T x, T flip) { return masked(x, T{-1}, flip); }
};
template <class T>
struct Compared<T, true> {
    using Key = typename KeyOf<T>::Key;
    static EP_INLINE Key of(T x, Mask<T> flip) {
        const Key nan = static_cast<Key>(KeyOf<T>::infinite + KeyOf<T>::shift + 1);
        const Key key = KeyOf<T>::of(masked(x, ~Mask<T>{}, flip) + T{0});  // of -0 too: 0
        return key < nan ? key : nan;
    }
};

template <class T>
struct Seeker {
    using Op = Compared<T>;
    using Key = typename Op::Key;

    // The identity of the comparison: any element is better, at any place.
    static void start(void* bests, int64_t* place, int64_t n) {
        Key* const best = static_cast<Key*>(bests);
        for (int64_t i = 0; i < n; ++i) best[i] = std::numeric_limits<Key>::lowest();
        for (int64_t i = 0; i < n; ++i) place[i] = std::numeric_limits<int64_t>::max();
    }

    static void seek(void* bests, void* rows_of, const void* elements, int64_t step, int64_t rows, int64_t n,
                     const ep::Lens& lens) {
        const auto flip = static_cast<Mask<T>>(lens.flip);
        Key* const best = static_cast<Key*>(bests);
        Key* const row = static_cast<Key*>(rows_of);
        const T* x = static_cast<const T*>(elements);
        for (int64_t i = 0; i < n; ++i) best[i] = Op::of(x[i], flip);
        for (int64_t i = 0; i < n; ++i) row[i] = 0;
        int64_t r = 1;
        for (x += step; r + 4 <= rows; r += 4, x += 4 * step) {
            const Key number = static_cast<Key>(r);
            if (step == n) fetch(x + 4 * step, 4 * step);
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) {
                Key found = best[i];
                Key at = row[i];
#pragma GCC unroll 4
                for (int k = 0; k < 4; ++k) {
                    const Key other = Op::of(x[k * step + i], flip);
                    const bool is_better = other > found;
                    found = is_better ? other : found;
                    at = is_better ? static_cast<Key>(number + k) : at;
                }
                best[i] = found;
                row[i] = at;
            }
        }
        for (; r < rows; ++r, x += step) {
            const Key number = static_cast<Key>(r);
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) {
                const Key other = Op::of(x[i], flip);
                const bool is_better = other > best[i];
                best[i] = is_better ? other : best[i];
                row[i] = is_better ? number : row[i];
            }
        }
    }

    static EP_INLINE void keep_better(Key& best, int64_t& place, Key other, int64_t other_place) {
        const bool takes = (other > best) | ((other == best) & (other_place < place));
        best = takes ? other : best;
        place = takes ? other_place : place;
    }

    static void adopt(void* bests, int64_t* place, const void* others, const void* rows_of, int64_t base,
                      int64_t row_weight, int64_t lane_weight, int64_t n) {
        Key* const best = static_cast<Key*>(bests);
        const Key* const other = static_cast<const Key*>(others);
        const Key* const row = static_cast<const Key*>(rows_of);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i)
            keep_better(best[i], place[i], other[i], base + row[i] * row_weight + i * lane_weight);
    }

    static void merge(void* bests, int64_t* place, const void* others, const int64_t* other_place, int64_t n) {
        Key* const best = static_cast<Key*>(bests);
        const Key* const other = static_cast<const Key*>(others);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) keep_better(best[i], place[i], other[i], other_place[i]);
    }

    static int64_t seek_row(const void* elements, int64_t n, const ep::Lens& lens) {
        return first_of_greatest(static_cast<const T*>(elements), n, static_cast<Mask<T>>(lens.flip));
    }
};

template <class T, uint64_t order>
constexpr ep::Seeker SEEKER = {
    {EVERY, order, 1.0}, Seeker<T>::start, Seeker<T>::seek, Seeker<T>::adopt, Seeker<T>::merge, Seeker<T>::seek_row,
};

template <class T, class R, uint64_t order>
constexpr ep_row row(const char* op, const char* input, const char* output) {
    using S = typename OrderOf<T>::type;
    return {"arg_reduce",  op,      input,   output,           ep::arg_reduce, storage_as<T, S>(),
            EP_STORAGE(R), nullptr, nullptr, &SEEKER<S, order>};
}

#define EP_SEEK_ROW(op, T, R, order) row<T_##T, T_##R, OrderOf<T_##T>::order>(op, #T, #R),
#define EP_SEEK_ROWS(T, R) EP_SEEK_ROW("max", T, R, up) EP_SEEK_ROW("min", T, R, down)

// clang-format off
const ep_row ROWS[] = {
    EP_REALS(EP_SEEK_ROWS, int32) EP_BOOLS(EP_SEEK_ROWS, int32)
    EP_REALS(EP_SEEK_ROWS, int64) EP_BOOLS(EP_SEEK_ROWS, int64)
};
// clang-format on

}  // namespace

EP_PART
