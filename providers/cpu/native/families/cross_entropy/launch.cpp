// The launch of CrossEntropy: rows of scores are measured by the passes of LogSoftmax, and then there is a loss for the
// label of each. Sums are made of all losses in one order, whatever the threads.
#include "families/softmax/units.h"
#include "runtime/count.h"
#include "runtime/index.h"

namespace {

// Rows that are measured before their losses are made.
constexpr int64_t ROWS = 256;
// Bytes of memory that the loss of a row costs.
constexpr int64_t LOSS = 128;

template <class T>
struct Job {
    const ep_cross_entropy_plan* plan;
    ep::Units units;
    const char* weights;
    T *losses, *counts;  // of all rows, null where losses are not joined
    int parts;
    double sums[2];

    Job(const ep_cross_entropy_plan& g, const void* packed)
        : plan(&g), units(g.rows, packed), weights(nullptr), losses(nullptr), counts(nullptr), parts(1) {
        if (g.weights >= 0) weights = ep::place_of(packed, g.weights, g.weights_offset);
        if (g.scratch >= 0) losses = reinterpret_cast<T*>(ep::place_of(packed, g.scratch, 0)), counts = losses + rows();
        units.form.step[EP_MADE] = g.row->from->size;
        if (g.is_log != 0) units.worth = ep::parts(LOSS * units.count);
    }

    int64_t rows() const {
        int64_t count = 1;
        for (int d = 0; d < units.plan->ndim; ++d) count *= units.plan->shape[d];
        return count;
    }
    // Of a row of elements, if they were made: the passes ask how the rows of their output lie, and write none.
    int64_t made_nbytes() const { return units.form.extent * units.form.step[EP_MADE]; }
    // The number of a unit's first row.
    int64_t number(int64_t unit) const {
        const int64_t width = units.passes->width;
        if (width == 1) return unit;
        return unit / units.tiles * units.plan->shape[units.plan->ndim - 1] + unit % units.tiles * width;
    }
};

// An element, as it is computed with.
template <class T>
EP_INLINE T element(const ep_storage& storage, const char* at) {
    T value;
    if (storage.is_direct)
        std::memcpy(&value, at, sizeof value);
    else
        storage.load(at, storage.size, 1, &value);
    return value;
}
template <class T>
EP_INLINE void put(const ep_storage& storage, T value, char* at) {
    if (storage.is_direct)
        std::memcpy(at, &value, sizeof value);
    else
        storage.store(&value, at, storage.size, 1, false);
}

// The losses of n rows from `number` on, which lie `next` bytes apart from `at` on.
template <class T>
void make_losses(const Job<T>& job, char* const* at, const int64_t* next, int64_t number, int64_t n, const T* largest,
                 const T* logarithms) {
    const ep_cross_entropy_plan& g = *job.plan;
    const ep_storage& storage = *g.row->from;
    const ep::Range<int64_t> classes = {0, g.rows.extent};
    for (int64_t i = 0; i < n; ++i) {
        const int64_t label = ep::index_at(at[EP_Y] + i * next[EP_Y], g.label_size);
        T loss = 0, weight = 0;
        if (classes.holds(label) && (g.ignores == 0 || label != g.ignored)) {
            T logarithm = element<T>(storage, at[EP_GIVEN] + i * next[EP_GIVEN] + label * g.rows.step[EP_GIVEN]);
            if (g.is_log == 0) logarithm = (logarithm - largest[i]) - logarithms[i];
            weight = job.weights == nullptr ? T{1} : element<T>(storage, job.weights + label * g.weights_step);
            loss = -logarithm * weight;
        }
        if (job.losses == nullptr)
            put(storage, loss, at[EP_MADE] + i * next[EP_MADE]);
        else
            job.losses[number + i] = loss, job.counts[number + i] = weight;
    }
}

template <class T>
void run_units(void* context, int part) {
    const auto& job = *static_cast<const Job<T>*>(context);
    const ep::Units& units = job.units;
    T largest[ROWS], logarithms[ROWS];
    int64_t next[EP_ROWS];
    units.next(next);
    const int64_t row[EP_ROWS] = {next[EP_GIVEN], 0, job.made_nbytes()};
    const int64_t end = units.count * (part + 1) / job.parts;
    for (int64_t unit = units.count * part / job.parts, count; unit < end; unit += count) {
        char* at[EP_ROWS];
        const int64_t width = units.place(unit, at);
        count = units.along(unit, std::min(end, unit + ROWS));
        if (job.plan->is_log == 0) units.passes->measured(units.form, at, width, count, row, largest, logarithms);
        make_losses(job, at, next, job.number(unit), std::max(width, count), largest, logarithms);
    }
}

// Threads share the chunks of each unit.
template <class T>
void run_chunks(const Job<T>& job) {
    const ep::Units& units = job.units;
    T largest[ROWS], logarithms[ROWS];
    int64_t next[EP_ROWS];
    units.next(next);
    ep::Shared shared(units);
    for (int64_t unit = 0; unit < units.count; ++unit) {
        shared.measure(unit);
        units.passes->read(shared.width, shared.measures.bytes, largest, logarithms);
        make_losses(job, shared.at, next, job.number(unit), shared.width, largest, logarithms);
    }
}

// The sum of blocks, added pairwise, each of which is several sums side by side.
template <class T>
double sum(const T* x, int64_t n) {
    constexpr int64_t LANES = 16;
    if (n > ep::BLOCK) {
        const int64_t half = ep::ceil_div(n / 2, ep::BLOCK) * ep::BLOCK;
        return sum(x, half) + sum(x + half, n - half);
    }
    double sums[LANES] = {};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int64_t lane = 0; lane < LANES; ++lane) sums[lane] += x[i + lane];
    for (int64_t lane = 0; i < n; ++i, ++lane) sums[lane] += x[i];
    for (int64_t half = LANES / 2; half > 0; half /= 2)
        for (int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
}

template <class T>
void run_sum(void* context, int part) {
    auto& job = *static_cast<Job<T>*>(context);
    job.sums[part] = sum(part == 0 ? job.losses : job.counts, job.rows());
}

template <class T>
int enter(const void* packed) {
    const auto& g = ep::plan_of<ep_cross_entropy_plan>(packed);
    Job<T> job(g, packed);
    if (job.rows() == 0 || g.is_log != 0 || job.units.are_taken_whole()) {
        job.parts = static_cast<int>(std::min(job.units.count, job.units.worth));
        ep::parallel(job.parts, run_units<T>, &job);
    } else {
        run_chunks(job);
    }
    if (job.losses == nullptr) return 0;
    job.parts = g.is_mean != 0 ? 2 : 1;
    ep::parallel(job.parts, run_sum<T>, &job);
    const auto made = static_cast<T>(g.is_mean != 0 ? job.sums[0] / job.sums[1] : job.sums[0]);
    put(*g.row->from, made, job.units.at[EP_MADE]);
    return 0;
}

}  // namespace

int ep::cross_entropy(const void* packed) {
    ep::count_call();
    const ep_storage& storage = *plan_of<ep_cross_entropy_plan>(packed).row->from;
    return storage.staged_size == sizeof(float) ? enter<float>(packed) : enter<double>(packed);
}
