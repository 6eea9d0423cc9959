// Short rows that lie one after the other in the output of a binary op, of which one input is repeated along rows or
// along columns: blocks of several rows. Short rows of a copy, anywhere.
#include "elementwise.h"
#include "families/copy/copy.h"
#include "runtime/moves.h"
#include "runtime/stream.h"

namespace {

#include "types/block.h"

// Longer rows are worth a call each.
constexpr int64_t LONG_ROW = 128;

// One input as blocks of whole rows, of n elements each.
class Rows {
   public:
    Rows(const ep_storage& from, const char* at, int64_t step, int64_t outer, int64_t n, int64_t most)
        : from_(from),
          at_(at),
          step_(step),
          outer_(outer),
          n_(n),
          is_dense_(step == from.size && outer == n * step),
          is_same_(outer == 0) {
        if (is_same_)
            for (int64_t row = 0; row < most; ++row) load_row(row, 0);
    }

    const void* rows(int64_t first, int64_t count) {
        if (is_same_) return block_.bytes;
        if (is_dense_) return from_.load(at_ + first * outer_, step_, count * n_, block_.bytes);
        if (step_ != 0) {
            for (int64_t row = 0; row < count; ++row) load_row(row, first + row);
            return block_.bytes;
        }
        Block values;
        const void* const column = from_.load(at_ + first * outer_, outer_, count, values.bytes);
        ep::with_unsigned(from_.staged_size, [&](auto bits) { widen<decltype(bits)>(column, count); });
        return block_.bytes;
    }

   private:
    void load_row(int64_t row, int64_t place) {
        char* const to = block_.bytes + row * n_ * from_.staged_size;
        const void* const elements = from_.load(at_ + place * outer_, step_, n_, to);
        if (elements != to) std::memcpy(to, elements, static_cast<size_t>(n_ * from_.staged_size));
    }

    template <class U>
    void widen(const void* column, int64_t count) {
        U* to = reinterpret_cast<U*>(block_.bytes);
        for (int64_t row = 0; row < count; ++row, to += n_) {
            const U value = static_cast<const U*>(column)[row];
            for (int64_t i = 0; i < n_; ++i) to[i] = value;
        }
    }

    const ep_storage& from_;
    const char* const at_;
    const int64_t step_, outer_, n_;
    const bool is_dense_, is_same_;
    Block block_;
};

void binary_rows(const ep_geometry& g, char* const* at, const int64_t* outer, int64_t rows) {
    const ep_row& row = *g.row;
    const int last = g.ndim - 1;
    const int64_t n = g.shape[last], most = rows < ep::BLOCK / n ? rows : ep::BLOCK / n;
    Rows a(*row.from, at[0], g.stride[0][last], outer[0], n, most);
    Rows b(*row.from, at[1], g.stride[1][last], outer[1], n, most);
    Target out(*row.to, at[2], row.to->size, streams(g.traffic, g.operands, at, rows * n));
    for (int64_t i = 0, m; i < rows; i += m) {
        m = rows - i < most ? rows - i : most;
        row.body(a.rows(i, m), b.rows(i, m), out.block(), m * n, g.attributes, -1);
        out.flush(m * n);
    }
}

}  // namespace

bool ep::has_short_rows(const ep_geometry& g) {
    const int last = g.ndim - 1;
    if (last < 1) return false;
    const int64_t size = g.row->to->size;
    if (g.row->loop == copy)
        return g.stride[0][last] == size && g.stride[1][last] == size && g.shape[last] * size <= SHORT_COPY;
    if (g.row->loop != binary || g.scalar >= 0 || g.shape[last] > LONG_ROW) return false;
    return g.stride[2][last] == size && g.stride[2][last - 1] == size * g.shape[last];
}

void ep::short_rows(const ep_geometry& g, char* const* at, const int64_t* outer, int64_t rows) {
    (g.row->loop == copy ? static_cast<const RowCopier*>(g.row->code)->run : binary_rows)(g, at, outer, rows);
}
