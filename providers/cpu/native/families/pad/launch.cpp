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

// Indices [begin, end) of a dimension of out: those of x from `from` on, by steps, or nowhere: the value.
struct Run {
    int64_t begin, end, from, step;
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

// Of a dimension of out: before x, of x, and behind it.
struct Runs {
    Run of[3];

    Runs(int mode, const ep_pad_dimension& d) {
        const int64_t begin = std::clamp(d.before, int64_t{0}, d.extent);
        const int64_t end = std::clamp(d.before + d.source, begin, d.extent);
        const int64_t step = mode == EP_PAD_REFLECT ? -1 : mode == EP_PAD_CIRCULAR ? 1 : 0;
        const auto run = [&](int64_t from, int64_t to, int64_t by) {
            return Run{from, to, source_of(mode, d, from), by};
        };
        of[0] = run(0, begin, step);
        of[1] = run(begin, end, 1);
        of[2] = run(end, d.extent, step);
    }
};

struct Job {
    const ep_pad_plan* plan;
    const char* x;
    char* out;
    int64_t size;  // of an element
    ep::Pattern value;
    Runs runs;  // of a row
    bool streams;
    int64_t part;  // elements
};

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
    for (const Run& run : job.runs.of) {
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

// Rows of a plane of out, contiguous along them as those of x are.
struct Lines {
    const char* x;
    int64_t x_step;
    char* to;
    int64_t to_step;
};

// A border of the rows of out: n elements, `step` elements apart in x, or n times the value. Rows are written in the
// hundreds, so neither is changed by them: what a row stores it would wait to load.
template <class U>
struct Border {
    int64_t n, step, x_step;
    U value;
    const char* x;

    Border(const Job& job, const Run& run, const Lines& at)
        : n(run.end - run.begin), step(run.step), x_step(at.x_step), x(at.x + run.from * int64_t{sizeof(U)}) {
        std::memcpy(&value, job.value.bytes, sizeof value);
        if (run.from == NOWHERE) step = x_step = 0, x = reinterpret_cast<const char*>(&value);
    }

    EP_INLINE const U* from(int64_t row) const { return reinterpret_cast<const U*>(x + row * x_step); }

    EP_INLINE void write(int64_t row, U* to) const {
        const U* const own = from(row);
        if (n > FEW && step == 1)
            ep::copy_bytes(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(own), n * int64_t{sizeof(U)});
        else if (n > 2)
            for (int64_t i = 0; i < n; ++i) to[i] = own[i * step];
        else if (n > 0)
            to[0] = own[0], to[n - 1] = own[(n - 1) * step];
    }
};

// Call with a function that copies so many bytes: what a row would ask of their number is asked once.
template <class Function>
EP_INLINE void with_copy(int64_t nbytes, Function function) {
    if (nbytes <= 16 || nbytes > 128) return function(ep::copy_bytes);
    if (nbytes <= 32) return function(ep::copy_halves<16>);
    if (nbytes <= 64) return function(ep::copy_halves<32>);
    return function(ep::copy_halves<64>);
}

template <class U>
void write_lines(const Job& job, const Lines& at, int64_t count) {
    const Border<U> left(job, job.runs.of[0], at), right(job, job.runs.of[2], at);
    const Run& inner = job.runs.of[1];
    const int64_t n = inner.end - inner.begin, nbytes = n * int64_t{sizeof(U)};
    const char* const x = at.x + inner.from * int64_t{sizeof(U)};
    const auto each_row = [=](auto copy, auto write) {
        char* to = at.to;
        const char* from = x;
        for (int64_t row = 0; row < count; ++row, from += at.x_step, to += at.to_step) {
            U* const middle = reinterpret_cast<U*>(to) + left.n;
            write(left, row, middle - left.n);
            copy(reinterpret_cast<char*>(middle), from, nbytes);
            write(right, row, middle + n);
        }
    };
    with_copy(nbytes, [&](auto copy) {
        if (left.n == 1 && right.n == 1)
            each_row(copy, [](const Border<U>& border, int64_t row, U* to) { *to = *border.from(row); });
        else
            each_row(copy, [](const Border<U>& border, int64_t row, U* to) { border.write(row, to); });
    });
}

// Whole rows of one plane, `count` of them from number `first` on. A row of 32 elements takes less than the bookkeeping
// of runs.
template <class U>
void write_rows(const Job& job, const char* plane, int64_t first, int64_t count, char* to, int64_t to_step) {
    const ep_pad_plan& pad = *job.plan;
    const ep_pad_dimension &rows = pad.dimension[pad.ndim - 2], &columns = pad.dimension[pad.ndim - 1];
    for (const Run& run : Runs(pad.mode, rows).of) {
        const int64_t begin = std::max(run.begin, first), n = std::min(run.end, first + count) - begin;
        char* const out = to + (begin - first) * to_step;
        if (plane == nullptr || run.from == NOWHERE)
            for (int64_t i = 0; i < n; ++i)
                ep::fill_bytes(out + i * to_step, job.value, columns.extent * int64_t{sizeof(U)});
        else if (n > 0)
            write_lines<U>(job,
                           {plane + (run.from + (begin - run.begin) * run.step) * rows.x_step, run.step * rows.x_step,
                            out, to_step},
                           n);
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
    Job job = {&g,
               place_of(packed, 0, g.x_offset),
               place_of(packed, 1, g.out_offset),
               storage.size,
               {},
               Runs(g.mode, g.dimension[g.ndim - 1]),
               false,
               g.size};
    if (g.mode == EP_PAD_CONSTANT) {
        char element[sizeof(ep::Pattern)];
        storage.store(numbers_of(packed, 2), element, job.size, 1, false);
        job.value = ep::pattern_of(element, job.size);
    }
    job.streams = g.is_contiguous && g.traffic >= ep::STREAMING &&
                  g.dimension[g.ndim - 1].extent * job.size >= STREAMED_ROW &&
                  reinterpret_cast<uintptr_t>(job.out) % static_cast<uintptr_t>(job.size) == 0;
    const int count = ep::parts(g.traffic);
    // Whole lines of every dtype, so that two threads do not write one line of a dense output.
    job.part = ((g.size + count - 1) / count + 63) / 64 * 64;
    ep::parallel(static_cast<int>((g.size + job.part - 1) / job.part), pad_part, &job);
    return 0;
}
