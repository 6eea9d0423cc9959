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
#include "runs.h"
#include "columns.h"
#include "rows.h"
// clang-format on

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

    // An exclusive result belongs one further: the last one where the next row
    // begins, whose first is written after it.
    void rows(const char* x, char* out, int64_t count) {
        const int last = g_.ndim - 1;
        const int64_t n = g_.extent, x_row = g_.stride[EP_SCAN_X][last], out_row = g_.stride[EP_SCAN_OUT][last];
        const int64_t apart = from_.is_direct ? x_row / from_.size : n;
        const int64_t most = ROOM / n / SIDE_BY_SIDE<Op> * SIDE_BY_SIDE<Op>;
        for (int64_t r = 0, m; r < count; r += m) {
            m = std::min(most, count - r);
            const char* const at = x + r * x_row;
            const S* const given = from_.is_direct ? reinterpret_cast<const S*>(at) : bring_rows(at, x_row, m);
            int64_t k = 0;
            for (; k + SIDE_BY_SIDE<Op> <= m; k += SIDE_BY_SIDE<Op>)
                join_rows<SIDE_BY_SIDE<Op>>(given + k * apart, apart, all_ + k * n);
            for (; k < m; ++k) join_rows<1>(given + k * apart, apart, all_ + k * n);
            each_line(m, out_row, to_.size, [&](int64_t i, int64_t place, int64_t length) {
                store(all_ + i, out + r * out_row + place, to_.size, length);
            });
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

    // All that is kept of short rows: as many as are scanned at once, at least.
    static constexpr int64_t ROOM = 16 * EP_SCAN_MOST;
    static_assert(ROOM >= 2 * ep::BLOCK && SIDE_BY_SIDE<Op> <= 16);

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
        // Lines that follow one another come, and go, in one call.
        const bool follows = lies && g_.step[EP_SCAN_X] == width * x_step;
        const bool leaves = !streams && out_step == to_.size && g_.step[EP_SCAN_OUT] == width * out_step;
        Columns<Op> columns(width);
        S* const before = made_ - width;
        std::fill_n(before, width, Op::identity());
        for (int64_t i = 0, n; i < g_.extent; i += n) {
            n = std::min({most, g_.extent - i, RUN - i % RUN});
            if (i % RUN == 0) columns.begin_run(i == 0);
            const char* const lines = x + i * g_.step[EP_SCAN_X];
            if (follows && is_widened)
                columns.join_lines(reinterpret_cast<const Widened*>(lines), made_, n);
            else if (follows)
                columns.join_lines(static_cast<const S*>(from_.load(lines, x_step, n * width, x_)), made_, n);
            for (int64_t j = 0; !follows && j < n; ++j) {
                const char* const line = lines + j * g_.step[EP_SCAN_X];
                for (int64_t at = 0; lies && at < width * x_step; at += ep::LINE)
                    __builtin_prefetch(line + n * g_.step[EP_SCAN_X] + at);
                if (is_widened && lies)
                    columns.join(reinterpret_cast<const Widened*>(line), made_ + j * width);
                else
                    columns.join(static_cast<const S*>(from_.load(line, x_step, width, x_)), made_ + j * width);
            }
            const S* const first = g_.exclusive != 0 ? before : made_;
            if (leaves) store(first, out + i * g_.step[EP_SCAN_OUT], out_step, n * width);
            for (int64_t j = 0; !leaves && j < n; ++j)
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

    // `count` rows that are `row` bytes apart, by up to a block: take(elements so far, bytes so far, elements).
    template <class Take>
    EP_INLINE void each_line(int64_t count, int64_t row, int64_t size, Take take) {
        const int64_t n = g_.extent, lines = row == n * size ? 1 : count, length = count * n / lines;
        for (int64_t k = 0; k < lines; ++k)
            for (int64_t i = 0; i < length; i += ep::BLOCK)
                take(k * length + i, k * row + i * size, std::min(ep::BLOCK, length - i));
    }

    // Rows in S, one after another.
    const S* bring_rows(const char* x, int64_t row, int64_t count) {
        each_line(count, row, from_.size,
                  [&](int64_t i, int64_t place, int64_t length) { from_.load(x + place, from_.size, length, x_ + i); });
        return x_;
    }

    template <int64_t rows>
    EP_INLINE void join_rows(const S* x, int64_t apart, S* made) {
        const int64_t n = g_.extent;
        Rows<Op, rows>().join(x, apart, made + g_.exclusive, n);
        for (int64_t w = 0; g_.exclusive != 0 && w < rows; ++w) made[w * n] = Op::identity();
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
    alignas(ep::LINE) S x_[ROOM];
    // Results from before a block, then the block; or those of short rows.
    alignas(ep::LINE) S all_[ROOM + 1];
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
void rows(const ep_scan_plan& g, char* const* at, int64_t count) {
    Scan<Op, T>(g).rows(at[EP_SCAN_X], at[EP_SCAN_OUT], count);
}
template <class Op, class T>
constexpr ep::Scanner SCANNER = {along<Op, T>, across<Op, T>, rows<Op, T>};

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
