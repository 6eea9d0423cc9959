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
#include "types/stored.h"
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

// n lines of WIDTH numbers, each joined to the number before them.
template <class Op>
EP_INLINE void join_before(typename Op::S before, typename Op::S* made, int64_t n) {
    if constexpr (HAS_LANES<Op>) {
        using Lane = typename Op::Lane;
        constexpr int64_t lanes = Vector<Lane>::lanes;
        const V<Lane> given = repeated<Lane>(before);
        auto* at = reinterpret_cast<Lane*>(made);
        for (int64_t i = 0; i < n; ++i, at += WIDTH)
#pragma GCC unroll 4
            for (int64_t v = 0; v < WIDTH / lanes; ++v)
                store<Lane>(at + v * lanes, Op::join_lanes(given, load(at + v * lanes)));
    } else {
        for (int64_t i = 0; i < n * WIDTH; ++i) made[i] = Op::join(before, made[i]);
    }
}

// Columns side by side, in which lines are joined one after another.
template <class Op>
class Columns {
   public:
    using S = typename Op::S;
    // All that is kept of them fits the first cache.
    static constexpr int64_t MOST = std::min<int64_t>(ep::BLOCK, 4096 / sizeof(S));

    explicit Columns(int64_t width) : width_(width) { std::fill_n(run_, width, Op::identity()); }

    void begin_run(bool is_first) {
        for (int64_t w = 0; w < width_; ++w) {
            if (!is_first) carries_[w].add(run_[w]);
            before_[w] = carries_[w].value();
            if (!Op::is_serial) run_[w] = Op::identity();
        }
    }

    // A line of S, or of float that becomes double, and its results.
    template <class X>
    void join(const X* line, S* results) {
        int64_t w = 0;
        if constexpr (HAS_LANES<Op>) {
            using Lane = typename Op::Lane;
            constexpr int64_t lanes = Vector<Lane>::lanes;
            using Given = std::conditional_t<std::is_same_v<X, S>, Lane, X>;
            const auto* const x = reinterpret_cast<const Given*>(line);
            const auto* const before = reinterpret_cast<Lane*>(before_);
            auto *const run = reinterpret_cast<Lane*>(run_), *const made = reinterpret_cast<Lane*>(results);
            for (; w + lanes <= width_; w += lanes) {
                const V<Lane> joined = Op::join_lanes(load(run + w), load_stored<Lane>(x + w));
                store<Lane>(run + w, joined);
                store<Lane>(made + w, Op::join_lanes(load(before + w), joined));
            }
        }
        const int64_t width = width_;
#pragma GCC ivdep
        for (; w < width; ++w) {
            const S joined = Op::join(run_[w], S(line[w]));
            run_[w] = joined;
            results[w] = Op::is_serial ? joined : Op::join(before_[w], joined);
        }
    }

   private:
    const int64_t width_;
    Carry<Op> carries_[MOST];
    // Of each column the run up to a line, and what stands before that run.
    alignas(ep::LINE) S run_[MOST], before_[MOST];
};

// Elements of T, joined as Op's.
template <class Op, class T>
class Scan {
   public:
    explicit Scan(const ep_scan_plan& plan)
        : g_(plan), from_(*plan.row->from), to_(*plan.row->to), made_(all_ + ep::BLOCK) {}

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
        const bool streams = has_whole_lines(out, width);
        const int64_t most = most_columns();
        for (int64_t first = 0; first < width; first += most)
            scan_lines(x + first * g_.stride[EP_SCAN_X][last], out + first * g_.stride[EP_SCAN_OUT][last],
                       std::min(most, width - first), streams);
        if (streams) ep::stream_done();
    }

   private:
    using S = typename Op::S;

    static constexpr bool is_widened = std::is_same_v<T, float> && std::is_same_v<S, double>;
    using Widened = std::conditional_t<is_widened, T, S>;

    // Columns that lie apart, such as short rows, are few enough for the first cache to hold all of their elements.
    int64_t most_columns() const {
        constexpr int64_t most = Columns<Op>::MOST, whole = 8192;
        const int last = g_.ndim - 1;
        if (g_.stride[EP_SCAN_X][last] == from_.size && g_.stride[EP_SCAN_OUT][last] == to_.size) return most;
        return std::clamp(whole / (g_.extent * from_.size) / WIDTH * WIDTH, WIDTH, most);
    }

    // Processors do not foresee lines that are a page apart: those after a block are fetched. Lines of out, which may
    // be those of x, are written after a block has been read.
    void scan_lines(const char* x, char* out, int64_t width, bool streams) {
        const int64_t x_step = g_.stride[EP_SCAN_X][g_.ndim - 1], out_step = g_.stride[EP_SCAN_OUT][g_.ndim - 1];
        const int64_t most = std::min(RUN, ep::BLOCK / width);
        const bool lies = x_step == from_.size;
        Columns<Op> columns(width);
        S* const before = made_ - width;
        std::fill_n(before, width, Op::identity());
        for (int64_t i = 0, n; i < g_.extent; i += n) {
            n = std::min({most, g_.extent - i, RUN - i % RUN});
            if (i % RUN == 0) columns.begin_run(i == 0);
            for (int64_t j = 0; j < n; ++j) {
                const char* const line = x + (i + j) * g_.step[EP_SCAN_X];
                for (int64_t at = 0; lies && at < width * x_step; at += ep::LINE)
                    __builtin_prefetch(line + n * g_.step[EP_SCAN_X] + at);
                if (is_widened && x_step == int64_t{sizeof(T)})
                    columns.join(reinterpret_cast<const Widened*>(line), made_ + j * width);
                else
                    columns.join(static_cast<const S*>(from_.load(line, x_step, width, x_)), made_ + j * width);
            }
            const S* const first = g_.exclusive != 0 ? before : made_;
            for (int64_t j = 0; j < n; ++j)
                store(first + j * width, out + (i + j) * g_.step[EP_SCAN_OUT], out_step, width, streams);
            if (g_.exclusive != 0) std::copy_n(made_ + (n - 1) * width, width, before);
        }
    }

    // Whether lines of out, which are a row apart, are whole ones that go past the caches: as those of a transpose,
    // from half of the size on from which others do.
    bool has_whole_lines(const char* out, int64_t width) const {
        return 2 * g_.traffic >= ep::STREAMING && g_.stride[EP_SCAN_OUT][g_.ndim - 1] == to_.size &&
               width * to_.size % ep::LINE == 0 && g_.step[EP_SCAN_OUT] % ep::LINE == 0 && ep::is_line_aligned(out);
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
            join_before<Op>(before, run, RUN / WIDTH);
        }
    }

    void store(const S* made, char* at, int64_t step, int64_t n, bool streams = false) {
        if constexpr (std::is_same_v<S, Staged<T>>) {
            to_.store(made, at, step, n, streams);
        } else {
            const bool lies = to_.is_direct && step == to_.size && !streams;
            Staged<T> block[ep::BLOCK], *const staged = lies ? reinterpret_cast<Staged<T>*>(at) : block;
            for (int64_t i = 0; i < n; ++i) staged[i] = put<Staged<T>>(made[i]);
            if (!lies) to_.store(staged, at, step, n, streams);
        }
    }

    const ep_scan_plan& g_;
    const ep_storage &from_, &to_;
    alignas(ep::LINE) S x_[ep::BLOCK];
    // Results from before a block, then the block.
    alignas(ep::LINE) S all_[2 * ep::BLOCK];
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
