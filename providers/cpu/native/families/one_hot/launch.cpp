// The launch of OneHot: rows of `off` from a buffer, in which `on` is put where the row's index says, and taken back.
#include "one_hot.h"
#include "runtime/count.h"
#include "runtime/index.h"
#include "runtime/pool.h"
#include "runtime/stream.h"

namespace {

constexpr int64_t WIDEST = 16;
// A buffer stays in the first cache.
constexpr int64_t BUFFER = int64_t{8} << 10;

struct Job {
    const ep_one_hot_plan* plan;
    const char* indices;
    char* out;
    int64_t itemsize;
    alignas(WIDEST) char on[WIDEST];
    alignas(WIDEST) char off[WIDEST];
    int64_t part;         // positions, or classes
    bool cuts_positions;  // among the threads
    bool streams;
};

// A number of the compute type as an element.
void store_number(const ep_one_hot_plan& g, const char* number, char* element) {
    alignas(WIDEST) char staged[WIDEST];
    std::memcpy(staged, number, WIDEST);
    g.row->to->store(staged, element, g.row->to->size, 1, false);
}

void put(char* to, const char* element, int64_t itemsize) {
    switch (itemsize) {
        case 1:
            std::memcpy(to, element, 1);
            break;
        case 2:
            std::memcpy(to, element, 2);
            break;
        case 4:
            std::memcpy(to, element, 4);
            break;
        case 8:
            std::memcpy(to, element, 8);
            break;
        default:
            std::memcpy(to, element, WIDEST);
    }
}

// Classes [begin, end) of the rows of one thread.
template <class Index>
class Rows {
   public:
    Rows(const Job& job, int64_t begin, int64_t end, int64_t bytes_needed)
        : job_(job), g_(*job.plan), begin_(begin), end_(end), range_{g_.first + begin, end - begin} {
        const int64_t needed = bytes_needed < BUFFER ? bytes_needed : BUFFER;
        put(buffer_, job.off, job.itemsize);
        for (int64_t filled = job.itemsize, more; filled < needed; filled += more) {
            more = needed - filled < filled ? needed - filled : filled;
            std::memcpy(buffer_ + filled, buffer_, static_cast<size_t>(more));
        }
    }

    // n positions along the innermost dimension, from these places on.
    void write(const char* index, char* out, int64_t n) {
        const int last = g_.ndim - 1;
        const int64_t index_step = g_.stride[EP_INDICES][last], out_step = g_.stride[EP_CLASSES][last];
        const int64_t row = (end_ - begin_) * job_.itemsize;
        if (g_.step != job_.itemsize)
            scattered(index, out + begin_ * g_.step, n, index_step, out_step);
        else if (out_step == row && row <= BUFFER)
            adjacent(index, out, n, index_step);
        else
            for (int64_t i = 0; i < n; ++i)
                one(range_.place(index + i * index_step), out + i * out_step + begin_ * g_.step);
    }

   private:
    // Whole contiguous rows, as many at a time as the buffer holds.
    void adjacent(const char* index, char* out, int64_t n, int64_t index_step) {
        const int64_t row = (end_ - begin_) * job_.itemsize, most = BUFFER / row;
        for (int64_t i = 0, m; i < n; i += m, index += m * index_step, out += m * row) {
            m = n - i < most ? n - i : most;
            if (!job_.streams) {
                copy(out, m * row);
                patch(out, index, m, index_step, row, job_.on);
                continue;
            }
            patch(buffer_, index, m, index_step, row, job_.on);
            copy(out, m * row);
            patch(buffer_, index, m, index_step, row, job_.off);
        }
    }

    void patch(char* rows, const char* index, int64_t n, int64_t index_step, int64_t row, const char* element) {
        switch (job_.itemsize) {
            case 1:
                return patch_as<1>(rows, index, n, index_step, row, element);
            case 2:
                return patch_as<2>(rows, index, n, index_step, row, element);
            case 4:
                return patch_as<4>(rows, index, n, index_step, row, element);
            case 8:
                return patch_as<8>(rows, index, n, index_step, row, element);
            default:
                return patch_as<WIDEST>(rows, index, n, index_step, row, element);
        }
    }

    template <int64_t SIZE>
    void patch_as(char* rows, const char* index, int64_t n, int64_t index_step, int64_t row, const char* element) {
        for (int64_t i = 0; i < n; ++i) {
            const int64_t place = range_.place(index + i * index_step);
            if (range_.holds(place)) std::memcpy(rows + i * row + place * SIZE, element, SIZE);
        }
    }

    // One row, by pieces as long as the buffer.
    void one(int64_t place, char* out) {
        const int64_t row = (end_ - begin_) * job_.itemsize;
        const int64_t on = range_.holds(place) ? place * job_.itemsize : -1;
        for (int64_t at = 0, m; at < row; at += m) {
            m = row - at < BUFFER ? row - at : BUFFER;
            const bool is_here = on >= at && on < at + m;
            if (is_here) put(buffer_ + on - at, job_.on, job_.itemsize);
            copy(out + at, m);
            if (is_here) put(buffer_ + on - at, job_.off, job_.itemsize);
        }
    }

    // Neighbours are of one class: all is filled, and then `on` is put where it belongs.
    void scattered(const char* index, char* out, int64_t n, int64_t index_step, int64_t out_step) {
        const bool is_whole = out_step == job_.itemsize && g_.step == n * out_step;
        if (is_whole)
            fill(out, n * (end_ - begin_), out_step);
        else
            for (int64_t c = 0; c < end_ - begin_; ++c) fill(out + c * g_.step, n, out_step);
        if (job_.streams) ep::stream_done();
        for (int64_t i = 0; i < n; ++i) {
            const int64_t place = range_.place(index + i * index_step);
            if (range_.holds(place)) put(out + i * out_step + place * g_.step, job_.on, job_.itemsize);
        }
    }

    void fill(char* out, int64_t n, int64_t step) const {
        if (step != job_.itemsize) {
            for (int64_t i = 0; i < n; ++i) put(out + i * step, job_.off, job_.itemsize);
            return;
        }
        for (int64_t at = 0, m; at < n * step; at += m) {
            m = n * step - at < BUFFER ? n * step - at : BUFFER;
            copy(out + at, m);
        }
    }

    void copy(char* out, int64_t nbytes) const {
        if (job_.streams)
            ep::stream_bytes(out, buffer_, nbytes);
        else
            std::memcpy(out, buffer_, static_cast<size_t>(nbytes));
    }

    const Job& job_;
    const ep_one_hot_plan& g_;
    const int64_t begin_, end_;
    const ep::Range<Index> range_;
    alignas(ep::LINE) char buffer_[BUFFER];
};

// Positions [begin, end) in row-major order.
template <class Index>
void visit(const Job& job, Rows<Index>& rows, int64_t begin, int64_t end) {
    const ep_one_hot_plan& g = *job.plan;
    const int last = g.ndim - 1;
    for (int64_t n; begin < end; begin += n) {
        const char* index = job.indices;
        char* out = job.out;
        int64_t rest = begin;
        for (int d = last; d >= 0; --d) {
            index += rest % g.shape[d] * g.stride[EP_INDICES][d];
            out += rest % g.shape[d] * g.stride[EP_CLASSES][d];
            rest /= g.shape[d];
        }
        const int64_t left = g.shape[last] - begin % g.shape[last];
        n = end - begin < left ? end - begin : left;
        rows.write(index, out, n);
    }
}

template <class Index>
void write_part(void* context, int i) {
    const Job& job = *static_cast<const Job*>(context);
    const ep_one_hot_plan& g = *job.plan;
    const int64_t begin = i * job.part, size = job.cuts_positions ? g.size : g.classes;
    const int64_t end = size - begin < job.part ? size : begin + job.part;
    const int64_t positions = job.cuts_positions ? end - begin : g.size;
    const int64_t from = job.cuts_positions ? 0 : begin, to = job.cuts_positions ? g.classes : end;
    Rows<Index> rows(job, from, to, positions * (to - from) * job.itemsize);
    const int64_t first = job.cuts_positions ? begin : 0;
    visit(job, rows, first, first + positions);
    if (job.streams) ep::stream_done();
}

}  // namespace

int ep::one_hot(const void* packed) {
    const auto& g = plan_of<ep_one_hot_plan>(packed);
    ep::count_call();
    Job job;
    job.plan = &g;
    job.indices = place_of(packed, EP_INDICES, g.offset[EP_INDICES]);
    job.out = place_of(packed, EP_CLASSES, g.offset[EP_CLASSES]);
    job.itemsize = g.row->to->size;
    const char* const numbers = numbers_of(packed, EP_ONE_HOT_TENSORS);
    store_number(g, numbers, job.on);
    store_number(g, numbers + EP_NUMBER, job.off);
    job.streams = g.traffic >= ep::STREAMING;
    const int count = ep::parts(g.traffic);
    job.cuts_positions = g.size >= count || g.size >= g.classes;
    const int64_t size = job.cuts_positions ? g.size : g.classes;
    job.part = ((size + count - 1) / count + ep::LINE - 1) / ep::LINE * ep::LINE;
    ep::parallel(static_cast<int>((size + job.part - 1) / job.part),
                 g.index_size == 4 ? write_part<int32_t> : write_part<int64_t>, &job);
    return 0;
}
