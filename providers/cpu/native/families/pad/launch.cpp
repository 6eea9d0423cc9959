// Pad: rows of out, each of at most three runs of elements of x, or of the value.
#include <algorithm>

#include "pad.h"
#include "runtime/count.h"
#include "runtime/moves.h"
#include "runtime/pool.h"
#include "runtime/stream.h"
#include "types/storage.h"

namespace {

constexpr int64_t NOWHERE = -1;

// Columns [begin, end) of a row: x from column `from` on, in steps of columns, or the value.
struct Run {
    int64_t begin, end, from, step;
};

struct Job {
    const ep_pad_plan* plan;
    const char* x;
    char* out;
    int64_t size;  // of an element
    ep::Pattern value;
    Run runs[3];
    int run_count;
    bool streams;
    int64_t part;  // elements
};

// The index of x that stands at index i of out.
EP_INLINE int64_t source_of(int mode, const ep_pad_dimension& d, int64_t i) {
    const int64_t j = i - d.before;
    if (j >= 0 && j < d.source) return j;
    switch (mode) {
        case EP_PAD_REFLECT:
            return j < 0 ? -j : 2 * (d.source - 1) - j;
        case EP_PAD_EDGE:
            return j < 0 ? 0 : d.source - 1;
        case EP_PAD_CIRCULAR:
            return j < 0 ? j + d.source : j - d.source;
        default:
            return NOWHERE;
    }
}

void find_runs(Job& job) {
    const ep_pad_plan& pad = *job.plan;
    const ep_pad_dimension& d = pad.dimension[pad.ndim - 1];
    const int64_t begin = std::clamp(d.before, int64_t{0}, d.extent);
    const int64_t end = std::clamp(d.before + d.source, begin, d.extent);
    const int64_t step = pad.mode == EP_PAD_REFLECT ? -1 : pad.mode == EP_PAD_CIRCULAR ? 1 : 0;
    const auto add = [&](int64_t from, int64_t to, int64_t by) {
        if (from < to) job.runs[job.run_count++] = {from, to, source_of(pad.mode, d, from), by};
    };
    add(0, begin, step);
    add(begin, end, 1);
    add(end, d.extent, step);
}

// Contiguous output, stored past the caches. The stage begins at a line; bytes of its first line before out are
// skipped.
class Stage {
   public:
    explicit Stage(char* out)
        : line_(out - reinterpret_cast<uintptr_t>(out) % ep::LINE), skipped_(out - line_), used_(skipped_) {}

    char* next() { return bytes_ + used_; }
    int64_t room() const { return SIZE - used_; }

    void advance(int64_t nbytes) {
        used_ += nbytes;
        if (used_ == SIZE) flush();
    }

    void flush() {
        const int64_t first = skipped_ == 0 ? 0 : std::min(ep::LINE, used_);
        std::memcpy(line_ + skipped_, bytes_ + skipped_, static_cast<size_t>(first - skipped_));
        ep::stream_copy(line_ + first, bytes_ + first, used_ - first);
        line_ += used_;
        used_ = skipped_ = 0;
    }

   private:
    static constexpr int64_t SIZE = 8192;

    char* line_;
    int64_t skipped_, used_;
    alignas(ep::LINE) char bytes_[SIZE];
};

// Bytes of a row from which on a stage costs less than going past the caches saves.
constexpr int64_t STREAMED_ROW = 512;

// Runs up to here are moved element by element: a border is mostly one or two wide.
constexpr int64_t FEW = 4;

// n elements of type U; `from` null: the value.
template <class U>
EP_INLINE void put(const Job& job, char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
    constexpr int64_t size = sizeof(U);
    if (from == nullptr) from = job.value.bytes, from_step = 0;
    if (n <= FEW || to_step != size || (from_step != size && from_step != 0))
        return ep::copy_elements<U>(to, to_step, from, from_step, n);
    if (from_step == size) return ep::copy_bytes(to, from, n * size);
    ep::fill_bytes(to, ep::pattern_of(from, size), n * size);
}

// Columns [begin, end) of the row of out that has the row of x at `row`, null if it is all value. Calls
// write(from, step, n) for each run of them.
template <class Write>
EP_INLINE void each_run(const Job& job, const char* row, int64_t begin, int64_t end, Write write) {
    const int64_t x_step = job.plan->dimension[job.plan->ndim - 1].x_step;
    for (int k = 0; k < job.run_count; ++k) {
        const Run& run = job.runs[k];
        const int64_t i = std::max(run.begin, begin), to = std::min(run.end, end), step = run.step * x_step;
        const bool is_value = row == nullptr || run.from == NOWHERE;
        if (i < to) write(is_value ? nullptr : row + run.from * x_step + (i - run.begin) * step, step, to - i);
    }
}

template <class U>
EP_INLINE void write_row(const Job& job, const char* row, char* out, int64_t begin, int64_t end, int64_t out_step) {
    each_run(job, row, begin, end, [&](const char* from, int64_t step, int64_t n) {
        put<U>(job, out, out_step, from, step, n);
        out += n * out_step;
    });
}

template <class U>
void stage_row(const Job& job, const char* row, int64_t begin, int64_t end, Stage& stage) {
    each_run(job, row, begin, end, [&](const char* from, int64_t step, int64_t left) {
        for (int64_t n; left > 0; left -= n) {
            n = std::min(left, stage.room() / job.size);
            put<U>(job, stage.next(), job.size, from, step, n);
            stage.advance(n * job.size);
            if (from != nullptr) from += n * step;
        }
    });
}

// A run of a row: n elements from column `from` of x on in steps of elements, or n times the value. Rows are written in
// the hundreds, so a run is not changed by them: what a row stores it would wait to load.
template <class U>
struct Piece {
    int64_t n, from, step;
    U value;

    EP_INLINE U* write(U* to, const U* row) const {
        const U* const x = from == NOWHERE ? &value : row + from;
        if (n > FEW && step == 1)
            ep::copy_bytes(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(x), n * int64_t{sizeof(U)});
        else if (n > 2)
            for (int64_t i = 0; i < n; ++i) to[i] = x[i * step];
        else if (n > 0)
            to[0] = x[0], to[n - 1] = x[(n - 1) * step];
        return to + n;
    }
};

// Whole rows of one plane, `count` of them from number `first` on, where x and out are contiguous along them. A row of
// 32 elements takes less than the bookkeeping of runs.
template <class U>
void write_rows(const Job& job, const char* plane, int64_t first, int64_t count, char* to, int64_t to_step) {
    const ep_pad_plan& pad = *job.plan;
    const ep_pad_dimension &rows = pad.dimension[pad.ndim - 2], &columns = pad.dimension[pad.ndim - 1];
    U value;
    std::memcpy(&value, job.value.bytes, sizeof value);
    Piece<U> pieces[3] = {};
    for (int k = 0; k < job.run_count; ++k) {
        const Run& run = job.runs[k];
        pieces[k] = {run.end - run.begin, run.from, run.from == NOWHERE ? 0 : run.step, value};
    }
    const Piece<U> left = pieces[0], middle = pieces[1], right = pieces[2];
    for (int64_t row = first; row < first + count; ++row, to += to_step) {
        const int64_t j = source_of(pad.mode, rows, row);
        if (plane == nullptr || j == NOWHERE) {
            ep::fill_bytes(to, job.value, columns.extent * int64_t{sizeof(U)});
            continue;
        }
        const U* const x = reinterpret_cast<const U*>(plane + j * rows.x_step);
        right.write(middle.write(left.write(reinterpret_cast<U*>(to), x), x), x);
    }
}

// Elements [begin, end) in the order of rows.
template <class U>
void pad_range(const Job& job, int64_t begin, int64_t end, Stage* stage) {
    const ep_pad_plan& pad = *job.plan;
    const int last = pad.ndim - 1;
    const int64_t width = pad.dimension[last].extent;
    int64_t index[EP_RANK], rest = begin / width;
    // Where the part of x and of out begins that the indices of the dimensions before choose.
    const char* x[EP_RANK + 1] = {job.x};
    char* out[EP_RANK + 1] = {job.out};
    for (int d = last - 1; d >= 0; --d) {
        index[d] = rest % pad.dimension[d].extent;
        rest /= pad.dimension[d].extent;
    }
    int64_t column = begin % width;
    const bool is_plain = stage == nullptr && last > 0 && pad.dimension[last].x_step == job.size &&
                          pad.dimension[last].out_step == job.size;
    for (int changed = 0; begin < end;) {
        for (int d = changed; d < last; ++d) {
            const ep_pad_dimension& dimension = pad.dimension[d];
            const int64_t j = source_of(pad.mode, dimension, index[d]);
            x[d + 1] = x[d] == nullptr || j == NOWHERE ? nullptr : x[d] + j * dimension.x_step;
            out[d + 1] = out[d] + index[d] * dimension.out_step;
        }
        int64_t n = std::min(end - begin, width - column);
        if (is_plain && n == width) {
            const ep_pad_dimension& rows = pad.dimension[last - 1];
            const int64_t count = std::min(rows.extent - index[last - 1], (end - begin) / width);
            write_rows<U>(job, x[last - 1], index[last - 1], count, out[last], rows.out_step);
            n = count * width;
            index[last - 1] += count - 1;
        } else if (stage != nullptr && n == width && stage->room() >= n * job.size) {
            write_row<U>(job, x[last], stage->next(), 0, n, job.size);
            stage->advance(n * job.size);
        } else if (stage != nullptr) {
            stage_row<U>(job, x[last], column, column + n, *stage);
        } else {
            const int64_t step = pad.dimension[last].out_step;
            write_row<U>(job, x[last], out[last] + column * step, column, column + n, step);
        }
        begin += n;
        column = 0;
        for (changed = last - 1; changed > 0 && index[changed] + 1 == pad.dimension[changed].extent; --changed)
            index[changed] = 0;
        if (changed < 0) break;
        ++index[changed];
    }
}

void pad_part(void* context, int i) {
    const Job& job = *static_cast<const Job*>(context);
    const int64_t begin = i * job.part, end = std::min(begin + job.part, job.plan->size);
    const auto pad_with = [&](Stage* stage) {
        ep::with_unsigned(job.size, [&](auto bits) { pad_range<decltype(bits)>(job, begin, end, stage); });
    };
    if (!job.streams) return pad_with(nullptr);
    Stage stage(job.out + begin * job.size);
    pad_with(&stage);
    stage.flush();
    ep::stream_done();
}

}  // namespace

int ep::pad(const void* packed) {
    const auto& g = plan_of<ep_pad_plan>(packed);
    const ep_storage& storage = *g.row->to;
    ep::count_call();
    Job job = {&g, nullptr, nullptr, storage.size, {}, {}, 0, false, g.size};
    job.x = place_of(packed, 0, g.x_offset);
    job.out = place_of(packed, 1, g.out_offset);
    if (g.mode == EP_PAD_CONSTANT) {
        char element[sizeof(ep::Pattern)];
        storage.store(numbers_of(packed, 2), element, job.size, 1, false);
        job.value = ep::pattern_of(element, job.size);
    }
    find_runs(job);
    job.streams = g.is_contiguous && g.traffic >= ep::STREAMING &&
                  g.dimension[g.ndim - 1].extent * job.size >= STREAMED_ROW &&
                  reinterpret_cast<uintptr_t>(job.out) % static_cast<uintptr_t>(job.size) == 0;
    const int count = ep::parts(g.traffic);
    // Whole lines of every dtype, so that two threads do not write one line of a dense output.
    job.part = ((g.size + count - 1) / count + 63) / 64 * 64;
    ep::parallel(static_cast<int>((g.size + job.part - 1) / job.part), pad_part, &job);
    return 0;
}
