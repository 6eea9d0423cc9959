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
// Tiles of a stripe from one that is scanned to one that is fetched.
constexpr int64_t AHEAD = 4;

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

// Runs and columns of such numbers are lanes of vectors; GCC makes single numbers of their chains.
template <class Op>
constexpr bool HAS_LANES = false;
template <class T>
constexpr bool IS_LANE = std::is_arithmetic_v<T> && sizeof(T) >= 4 && EP_WIDTH == 32;
template <class T>
constexpr bool HAS_LANES<Added<T>> = IS_LANE<T>;
template <class T>
constexpr bool HAS_LANES<Most<T>> = IS_LANE<T>;
template <class T>
constexpr bool HAS_LANES<Least<T>> = IS_LANE<T>;

// Runs that lie one after another: squares of their elements are turned in registers, and back.
template <class Op>
EP_INLINE void join_abreast(const typename Op::S* x, typename Op::S* made) {
    using T = typename Op::S;
    using Word = WordOf<T>;
    using Lanes = V<typename Op::Lane>;
    constexpr int64_t lanes = Vector<T>::lanes, square = IN_LANE<Word>, apart = RUN * sizeof(T);
    Lanes state[ABREAST / lanes];
    for (Lanes& run : state) run = repeated<typename Op::Lane>(Op::identity());
    for (int64_t i = 0; i < RUN; i += square) {
#pragma GCC unroll 4
        for (int64_t g = 0; g < ABREAST / lanes; ++g) {
            V<Word> columns[square];
            turn_lane<Word>(reinterpret_cast<const char*>(x + g * lanes * RUN + i), apart, columns);
#pragma GCC unroll 4
            for (int64_t j = 0; j < square; ++j) {
                state[g] = Op::join_lanes(state[g], reinterpret_cast<Lanes>(columns[j]));
                columns[j] = reinterpret_cast<V<Word>>(state[g]);
            }
            turn_back<Word>(columns, reinterpret_cast<char*>(made + g * lanes * RUN + i), apart);
        }
    }
}

// Along each of WIDTH columns of n lines.
template <class Op>
EP_INLINE void join_columns(const typename Op::S* x, typename Op::S* made, typename Op::S* states, int64_t n) {
    using Lane = typename Op::Lane;
    constexpr int64_t lanes = Vector<Lane>::lanes;
    const auto* from = reinterpret_cast<const Lane*>(x);
    auto *to = reinterpret_cast<Lane*>(made), *ends = reinterpret_cast<Lane*>(states);
    V<Lane> state[WIDTH / lanes];
    for (V<Lane>& column : state) column = repeated<Lane>(Op::identity());
    for (int64_t i = 0; i < n; ++i, from += WIDTH, to += WIDTH)
#pragma GCC unroll 4
        for (int64_t v = 0; v < WIDTH / lanes; ++v) {
            state[v] = Op::join_lanes(state[v], load(from + v * lanes));
            store<Lane>(to + v * lanes, state[v]);
        }
    for (int64_t v = 0; v < WIDTH / lanes; ++v) store<Lane>(ends + v * lanes, state[v]);
}

// n lines of WIDTH numbers joined to those before them: COLUMNS have one each, a run has one for all.
template <class Op, bool COLUMNS>
EP_INLINE void join_before(const typename Op::S* before, typename Op::S* made, int64_t n) {
    if constexpr (HAS_LANES<Op>) {
        using Lane = typename Op::Lane;
        constexpr int64_t lanes = Vector<Lane>::lanes;
        const auto* const first = reinterpret_cast<const Lane*>(before);
        auto* at = reinterpret_cast<Lane*>(made);
        V<Lane> given[WIDTH / lanes];
        for (int64_t v = 0; v < WIDTH / lanes; ++v) given[v] = COLUMNS ? load(first + v * lanes) : repeated(*first);
        for (int64_t i = 0; i < n; ++i, at += WIDTH)
#pragma GCC unroll 4
            for (int64_t v = 0; v < WIDTH / lanes; ++v)
                store<Lane>(at + v * lanes, Op::join_lanes(given[v], load(at + v * lanes)));
    } else if constexpr (COLUMNS) {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t w = 0; w < WIDTH; ++w) made[i * WIDTH + w] = Op::join(before[w], made[i * WIDTH + w]);
    } else {
        const typename Op::S all = *before;
        for (int64_t i = 0; i < n * WIDTH; ++i) made[i] = Op::join(all, made[i]);
    }
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
        const int last = g_.ndim - 1;
        const int64_t x_step = g_.stride[EP_SCAN_X][last], out_step = g_.stride[EP_SCAN_OUT][last];
        if constexpr (std::is_same_v<S, Staged<T>>)
            if (has_whole_lines(out, width)) {
                scan_stripe<ep::SCAN_TILES>(x, out, width, true);
                ep::stream_done();
                return;
            }
        for (int64_t first = 0; first < width; first += WIDTH)
            scan_stripe<1>(x + first * x_step, out + first * out_step, std::min(WIDTH, width - first), false);
    }

   private:
    using S = typename Op::S;

    // Blocks of RUN lines of a stripe, tile after tile, so that lines of memory follow one another.
    template <int64_t TILES>
    EP_INLINE void scan_stripe(const char* x, char* out, int64_t width, bool streams) {
        const int last = g_.ndim - 1;
        const int64_t x_step = g_.stride[EP_SCAN_X][last], out_step = g_.stride[EP_SCAN_OUT][last];
        Carry<Op> carries[TILES][WIDTH];
        S befores[TILES][WIDTH], *const before = made_ - WIDTH;
        for (S* line : befores) std::fill_n(line, WIDTH, Op::identity());
        std::fill_n(x_, ep::BLOCK, Op::identity());
        for (int64_t i = 0, n; i < g_.extent; i += n) {
            n = std::min(RUN, g_.extent - i);
            const char* const lines = x + i * g_.step[EP_SCAN_X];
            char* const at = out + i * g_.step[EP_SCAN_OUT];
            for (int64_t first = 0, tile = 0; first < width; first += WIDTH, ++tile) {
                std::copy_n(befores[tile], WIDTH, before);
                scan_tile(lines + first * x_step, at + first * out_step, std::min(WIDTH, width - first), n,
                          carries[tile], streams, TILES == 1 ? RUN * g_.step[EP_SCAN_X] : AHEAD * WIDTH * x_step);
                std::copy_n(made_ + (n - 1) * WIDTH, WIDTH, befores[tile]);
            }
        }
    }

    // n lines of `width` elements, after those whose results stand before `made_`. Lines that are a page apart are not
    // foreseen, and share one set of the first cache: the line `ahead` bytes from each is fetched.
    void scan_tile(const char* x, char* out, int64_t width, int64_t n, Carry<Op>* carries, bool streams,
                   int64_t ahead) {
        const int64_t x_step = g_.stride[EP_SCAN_X][g_.ndim - 1], out_step = g_.stride[EP_SCAN_OUT][g_.ndim - 1];
        for (int64_t j = 0; j < n; ++j) {
            const char* const line = x + j * g_.step[EP_SCAN_X];
            __builtin_prefetch(line + ahead, 0, 2);
            if (!streams) __builtin_prefetch(out + (j + RUN) * g_.step[EP_SCAN_OUT], 1, 2);
            bring_line(line, x_step, width, x_ + j * WIDTH);
        }
        join_lines(n, carries);
        const S* const first = made_ - (g_.exclusive != 0 ? WIDTH : 0);
        for (int64_t j = 0; j < n; ++j)
            store(first + j * WIDTH, out + j * g_.step[EP_SCAN_OUT], out_step, width, streams);
    }

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
                join_abreast<Op>(x + r * RUN, made_ + r * RUN);
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
            join_before<Op, false>(&before, run, RUN / WIDTH);
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
            join_columns<Op>(x_, made_, states, n);
        } else {
            std::fill_n(states, WIDTH, Op::identity());
            chain<Op, WIDTH, 1, WIDTH>(x_, made_, states, n);
        }
        S before[WIDTH];
        for (int64_t w = 0; w < WIDTH; ++w) {
            before[w] = carries[w].value();
            carries[w].add(states[w]);
        }
        join_before<Op, true>(before, made_, n);
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
