// The rows of Scan, and their loops over blocks. A row is cut into runs of RUN elements: each is scanned on its own,
// and joined to the result before it. Runs of one row, or rows of a tile, lie side by side: either way an element is
// made of the same numbers in the same order. Compiled once per instruction set; all of them give the same bits.
#include <algorithm>

#include "isa/isa.h"
#include "scan.h"

namespace {

// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "isa/squares.h"
#include "math/arithmetic.h"
#include "math/double_word.h"
#include "types/loads.h"
#include "joints.h"
// clang-format on

constexpr int64_t WIDTH = ep::SCAN_WIDTH, RUN = ep::BLOCK / WIDTH;
// Runs of a row that are scanned at once, in registers.
constexpr int64_t ABREAST = 8;

// One step of a chain waits for the one before: LANES chains do not wait for one another.
template <class Op, int64_t LANES, int64_t ACROSS, int64_t ALONG>
EP_INLINE void chain(const typename Op::S* x, typename Op::S* made, typename Op::S* states, int64_t n) {
    typename Op::S state[LANES];
    for (int64_t w = 0; w < LANES; ++w) state[w] = states[w];
    for (int64_t i = 0; i < n; ++i)
#pragma GCC unroll 16
        for (int64_t w = 0; w < LANES; ++w) {
            state[w] = Op::join(state[w], x[w * ACROSS + i * ALONG]);
            made[w * ACROSS + i * ALONG] = state[w];
        }
    for (int64_t w = 0; w < LANES; ++w) states[w] = state[w];
}

// Runs that lie one after another, each a lane of vectors: squares of their elements are turned in registers, and back.
// Whole numbers wrap, and unsigned ones do so by definition.
template <class Op>
constexpr bool HAS_LANES = false;
template <class T>
constexpr bool HAS_LANES<Added<T>> = std::is_arithmetic_v<T> && sizeof(T) >= 4 && EP_WIDTH == 32;

template <class T>
using WordOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
using NumberOf = std::conditional_t<std::is_floating_point_v<T>, T, WordOf<T>>;

template <class T>
EP_INLINE void sum_runs(const T* x, T* made) {
    using Word = WordOf<T>;
    using Number = NumberOf<T>;
    constexpr int64_t lanes = Vector<T>::lanes, square = IN_LANE<Word>, apart = RUN * sizeof(T);
    V<Number> sum[ABREAST / lanes] = {};
    for (int64_t i = 0; i < RUN; i += square) {
#pragma GCC unroll 4
        for (int64_t g = 0; g < ABREAST / lanes; ++g) {
            V<Word> columns[square];
            turn_lane<Word>(reinterpret_cast<const char*>(x + g * lanes * RUN + i), apart, columns);
#pragma GCC unroll 4
            for (int64_t j = 0; j < square; ++j) {
                sum[g] += reinterpret_cast<V<Number>>(columns[j]);
                columns[j] = reinterpret_cast<V<Word>>(sum[g]);
            }
            turn_back<Word>(columns, reinterpret_cast<char*>(made + g * lanes * RUN + i), apart);
        }
    }
}

// Sums along each of WIDTH columns of n lines; GCC makes single numbers of the chain.
template <class T>
EP_INLINE void sum_lines(const T* x, T* made, T* states, int64_t n) {
    using Number = NumberOf<T>;
    constexpr int64_t lanes = Vector<T>::lanes;
    const auto* from = reinterpret_cast<const Number*>(x);
    auto *to = reinterpret_cast<Number*>(made), *ends = reinterpret_cast<Number*>(states);
    V<Number> sum[WIDTH / lanes] = {};
    for (int64_t i = 0; i < n; ++i, from += WIDTH, to += WIDTH)
#pragma GCC unroll 4
        for (int64_t v = 0; v < WIDTH / lanes; ++v) {
            sum[v] += load(from + v * lanes);
            store<Number>(to + v * lanes, sum[v]);
        }
    for (int64_t v = 0; v < WIDTH / lanes; ++v) store<Number>(ends + v * lanes, sum[v]);
}

// Elements of T, joined as Op's.
template <class Op, class T>
class Scan {
   public:
    explicit Scan(const ep_scan_plan& plan)
        : g_(plan), from_(*plan.row->from), to_(*plan.row->to), made_(all_ + WIDTH) {}

    void along(const char* x, char* out) {
        Carry<Op> carry;
        made_[-1] = carry.value();
        for (int64_t i = 0, n; i < g_.extent; i += n) {
            n = std::min(ep::BLOCK, g_.extent - i);
            const S* const given = bring(x + i * g_.step[EP_SCAN_X], n);
            if constexpr (Op::is_serial) {
                S state = made_[-1];
                chain<Op, 1, 0, 1>(given, made_, &state, n);
                store(made_ - g_.exclusive, out + i * g_.step[EP_SCAN_OUT], g_.step[EP_SCAN_OUT], n);
                made_[-1] = state;
            } else {
                join_runs(given, (n + RUN - 1) / RUN, carry);
                store(made_ - g_.exclusive, out + i * g_.step[EP_SCAN_OUT], g_.step[EP_SCAN_OUT], n);
                made_[-1] = made_[n - 1];
            }
        }
    }

    void across(const char* x, char* out, int64_t width) {
        Carry<Op> carries[WIDTH];
        S* const before = made_ - WIDTH;
        std::fill_n(before, WIDTH, Op::identity());
        std::fill_n(x_, ep::BLOCK, Op::identity());
        const int last = g_.ndim - 1;
        const bool streams = has_whole_lines(out, width);
        for (int64_t i = 0, n; i < g_.extent; i += n) {
            n = std::min(RUN, g_.extent - i);
            const char* const lines = x + i * g_.step[EP_SCAN_X];
            char* const at = out + i * g_.step[EP_SCAN_OUT];
            for (int64_t j = 0; j < n; ++j) {
                // Lines that are a page apart are not foreseen, and share one set of the first cache.
                __builtin_prefetch(lines + (j + RUN) * g_.step[EP_SCAN_X], 0, 2);
                if (!streams) __builtin_prefetch(at + (j + RUN) * g_.step[EP_SCAN_OUT], 1, 2);
                bring_line(lines + j * g_.step[EP_SCAN_X], g_.stride[EP_SCAN_X][last], width, x_ + j * WIDTH);
            }
            join_lines(n, carries);
            const S* const first = made_ - (g_.exclusive != 0 ? WIDTH : 0);
            for (int64_t j = 0; j < n; ++j)
                store(first + j * WIDTH, at + j * g_.step[EP_SCAN_OUT], g_.stride[EP_SCAN_OUT][last], width, streams);
            std::copy_n(made_ + (n - 1) * WIDTH, WIDTH, before);
        }
        if (streams) ep::stream_done();
    }

   private:
    using S = typename Op::S;

    // Whether lines of out, which are a row apart, are whole ones that go past the caches: as those of a transpose,
    // from half of the size on from which others do. Results that are converted gain nothing.
    bool has_whole_lines(const char* out, int64_t width) const {
        return std::is_same_v<S, Staged<T>> && 2 * g_.traffic >= ep::STREAMING &&
               g_.stride[EP_SCAN_OUT][g_.ndim - 1] == to_.size && width * to_.size % ep::LINE == 0 &&
               g_.step[EP_SCAN_OUT] % ep::LINE == 0 && ep::is_line_aligned(out);
    }

    // n elements, padded with the identity up to a whole number of groups of ABREAST runs.
    const S* bring(const char* at, int64_t n) {
        const auto* const given = static_cast<const S*>(from_.load(at, g_.step[EP_SCAN_X], n, x_));
        constexpr int64_t group = RUN * ABREAST;
        const int64_t whole = (n + group - 1) / group * group;
        if (Op::is_serial || n == whole) return given;
        if (given != x_) std::copy_n(given, n, x_);
        std::fill(x_ + n, x_ + whole, Op::identity());
        return x_;
    }
    void bring_line(const char* at, int64_t step, int64_t width, S* line) {
        const auto* const given = static_cast<const S*>(from_.load(at, step, width, line));
        if (given != line) std::copy_n(given, width, line);
    }

    EP_INLINE void join_runs(const S* x, int64_t runs, Carry<Op>& carry) {
        for (int64_t r = 0; r < runs; r += ABREAST) {
            if constexpr (HAS_LANES<Op>) {
                sum_runs(x + r * RUN, made_ + r * RUN);
            } else {
                S states[ABREAST];
                std::fill_n(states, ABREAST, Op::identity());
                chain<Op, ABREAST, RUN, 1>(x + r * RUN, made_ + r * RUN, states, RUN);
            }
        }
        for (int64_t r = 0; r < runs; ++r) {
            S* const run = made_ + r * RUN;
            const S before = carry.value();
            carry.add(run[RUN - 1]);
            for (int64_t i = 0; i < RUN; ++i) run[i] = Op::join(before, run[i]);
        }
    }

    EP_INLINE void join_lines(int64_t n, Carry<Op>* carries) {
        S states[WIDTH];
        if (Op::is_serial) {
            std::copy_n(made_ - WIDTH, WIDTH, states);
            chain<Op, WIDTH, 1, WIDTH>(x_, made_, states, n);
            return;
        }
        if constexpr (HAS_LANES<Op>) {
            sum_lines(x_, made_, states, n);
        } else {
            std::fill_n(states, WIDTH, Op::identity());
            chain<Op, WIDTH, 1, WIDTH>(x_, made_, states, n);
        }
        S before[WIDTH];
        for (int64_t w = 0; w < WIDTH; ++w) {
            before[w] = carries[w].value();
            carries[w].add(states[w]);
        }
        for (int64_t j = 0; j < n; ++j)
            for (int64_t w = 0; w < WIDTH; ++w) made_[j * WIDTH + w] = Op::join(before[w], made_[j * WIDTH + w]);
    }

    void store(const S* made, char* at, int64_t step, int64_t n, bool streams = false) {
        if constexpr (std::is_same_v<S, Staged<T>>) {
            to_.store(made, at, step, n, streams);
        } else {
            const bool lies = to_.is_direct && step == to_.size;
            Staged<T> block[ep::BLOCK], *const staged = lies ? reinterpret_cast<Staged<T>*>(at) : block;
            for (int64_t i = 0; i < n; ++i) staged[i] = put<Staged<T>>(made[i]);
            if (!lies) to_.store(staged, at, step, n, false);
        }
    }

    const ep_scan_plan& g_;
    const ep_storage &from_, &to_;
    alignas(ep::LINE) S x_[ep::BLOCK];
    // WIDTH results from before a block, then the block.
    alignas(ep::LINE) S all_[WIDTH + ep::BLOCK];
    S* const made_;
};

template <class Op, class T>
void along(const ep_scan_plan& g, char* const* at) {
    Scan<Op, T>(g).along(at[EP_SCAN_X], at[EP_SCAN_OUT]);
}
template <class Op, class T>
void across(const ep_scan_plan& g, char* const* at, int64_t width) {
    Scan<Op, T>(g).across(at[EP_SCAN_X], at[EP_SCAN_OUT], width);
}
template <class Op, class T>
constexpr ep::Scanner SCANNER = {along<Op, T>, across<Op, T>};

// In double but for integers: float32 would lose more than the last rounding.
template <class T>
struct WideOf {
    using type = std::conditional_t<std::is_floating_point_v<Staged<T>>, double, T>;
};
template <class T>
struct WideOf<Complex<T>> {
    using type = Complex<double>;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class Op, class T>
constexpr ep_row row(const char* op, const char* dtype) {
    return {"scan",        op,      dtype,   dtype,          ep::scan, storage_as<T, typename Op::S>(),
            EP_STORAGE(T), nullptr, nullptr, &SCANNER<Op, T>};
}

#define EP_SCAN_WIDE(T, op, Joint) row<Joint<Wide<T_##T>>, T_##T>(#op, #T),
#define EP_SCAN_STAGED(T, op, Joint) row<Joint<Staged<T_##T>>, T_##T>(#op, #T),

// clang-format off
const ep_row ROWS[] = {
    EP_NUMBERS(EP_SCAN_WIDE, sum, Added)
    EP_NUMBERS(EP_SCAN_WIDE, prod, Multiplied)
    EP_REALS(EP_SCAN_STAGED, max, Most)
    EP_REALS(EP_SCAN_STAGED, min, Least)
};
// clang-format on

}  // namespace

EP_PART
