// Matmul: tiles of the output, each summed in panels that fit the caches, then finished row by row.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>

#include "families/elementwise/elementwise.h"
#include "packing.h"
#include "runtime/count.h"
#include "runtime/pool.h"
#include "tiles.h"

namespace {

// Bytes of panels that stay in a core's own cache, and of the sums beside them; multiples of every panel's.
constexpr int64_t DEPTH = 256;
constexpr int64_t ROWS = 192;
constexpr int64_t COLUMN_BYTES = 1536;
constexpr int64_t A_BYTES = ROWS * DEPTH * 8, B_BYTES = DEPTH * COLUMN_BYTES, SUM_BYTES = ROWS * COLUMN_BYTES;
constexpr int64_t WORKSPACE = A_BYTES + B_BYTES + SUM_BYTES;

// A thread's panels and sums: allocated when first needed, kept for the next launch.
std::atomic<int64_t> kept{0};
struct Free {
    void operator()(char* block) const {
        std::free(block);
        kept -= WORKSPACE;
    }
};
char* workspace() {
    thread_local std::unique_ptr<char, Free> block;
    if (!block) {
        block.reset(static_cast<char*>(std::aligned_alloc(4096, WORKSPACE)));
        if (block) kept += WORKSPACE;
    }
    return block.get();
}

constexpr int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

constexpr int64_t round_up(int64_t a, int64_t b) {
    return ceil_div(a, b) * b;
}

// One launch, and how its output is cut into tiles of `rows` x `columns` elements; a panel of b has `panel` of those.
struct Job {
    const ep_matmul_plan* plan;
    const ep::Tile* tile;
    void (*run)(const Job&, int64_t batch, int64_t row, int64_t column, char* workspace);
    char* at[EP_MATRICES];
    double alpha[2], beta[2];
    int64_t panel, rows, columns, down, across, batches, tiles;
    int parts;
    std::atomic<int> status;
};

bool is_zero(const double* number) {
    return number[0] == 0 && number[1] == 0;
}
bool is_one(const double* number) {
    return number[0] == 1 && number[1] == 0;
}

// The place of an operand's matrix in batch number `index` of the dimensions [begin, end).
char* matrix(const ep_matmul_plan& g, char* at, int operand, int64_t index, int begin, int end) {
    for (int d = end - 1; d >= begin; --d) {
        at += index % g.extent[d] * g.stride[operand][d];
        index /= g.extent[d];
    }
    return at;
}

int64_t extents(const ep_matmul_plan& g, int begin, int end) {
    int64_t size = 1;
    for (int d = begin; d < end; ++d) size *= g.extent[d];
    return size;
}

// The last step for sums of each type: scale by alpha, and add beta times the old output, or the bias.
template <class T>
struct RealRow {
    static void scale(T* row, int64_t n, const double* alpha) {
        const T factor = static_cast<T>(alpha[0]);
        for (int64_t i = 0; i < n; ++i) row[i] *= factor;
    }
    static void add(T* row, const void* values, int64_t n, const double* beta) {
        const T factor = static_cast<T>(beta[0]), *x = static_cast<const T*>(values);
        for (int64_t i = 0; i < n; ++i) row[i] += factor * x[i];
    }
};
// Unsigned numbers wrap by definition; a number given at launch is one of int32.
template <>
struct RealRow<int32_t> {
    static uint32_t bits(const double* number) { return static_cast<uint32_t>(static_cast<int32_t>(number[0])); }
    static void scale(int32_t* row, int64_t n, const double* alpha) {
        const uint32_t factor = bits(alpha);
        for (int64_t i = 0; i < n; ++i) row[i] = static_cast<int32_t>(static_cast<uint32_t>(row[i]) * factor);
    }
    static void add(int32_t* row, const void* values, int64_t n, const double* beta) {
        const uint32_t factor = bits(beta);
        const auto* const x = static_cast<const uint32_t*>(values);
        for (int64_t i = 0; i < n; ++i) row[i] = static_cast<int32_t>(static_cast<uint32_t>(row[i]) + factor * x[i]);
    }
};
template <class T>
struct ComplexRow {
    static void scale(T* row, int64_t n, const double* alpha) {
        const T re = static_cast<T>(alpha[0]), im = static_cast<T>(alpha[1]);
        for (int64_t i = 0; i < n; ++i) {
            const T x = row[2 * i], y = row[2 * i + 1];
            row[2 * i] = x * re - y * im;
            row[2 * i + 1] = x * im + y * re;
        }
    }
    static void add(T* row, const void* values, int64_t n, const double* beta) {
        const T re = static_cast<T>(beta[0]), im = static_cast<T>(beta[1]), *x = static_cast<const T*>(values);
        for (int64_t i = 0; i < n; ++i) {
            row[2 * i] += x[2 * i] * re - x[2 * i + 1] * im;
            row[2 * i + 1] += x[2 * i] * im + x[2 * i + 1] * re;
        }
    }
};

// Sum one tile of one batch into `sums`, whose rows are `step` apart.
template <class Left, class Right>
void sum_tile(const Job& job, int64_t batch, int64_t row, int64_t column, typename Left::Sum* sums, int64_t step,
              char* panels) {
    using T = typename Left::Sum;
    const ep_matmul_plan& g = *job.plan;
    const ep::Tile& tile = *job.tile;
    auto* const a_panels = reinterpret_cast<T*>(panels);
    auto* const b_panels = reinterpret_cast<T*>(panels + A_BYTES);
    const int64_t m = std::min(job.rows, g.m - row), n = std::min(job.columns, g.n - column);
    const int64_t most = DEPTH / Left::depths, summed = extents(g, g.kept, g.ndim);
    const ep_storage* const storage = g.row->from;
    const bool is_summed_type = g.dtype == EP_float32 || g.dtype == EP_float64;
    const bool is_dense = is_summed_type && g.column[EP_B] == int64_t{sizeof(T)};
    for (int64_t s = 0; s < summed; ++s) {
        const char* a = matrix(g, matrix(g, job.at[EP_A], EP_A, batch, 0, g.kept), EP_A, s, g.kept, g.ndim);
        const char* b = matrix(g, matrix(g, job.at[EP_B], EP_B, batch, 0, g.kept), EP_B, s, g.kept, g.ndim);
        a += row * g.line[EP_A];
        b += column * g.column[EP_B];
        for (int64_t k = 0; k < g.k; k += most) {
            const int64_t depth = std::min(most, g.k - k), steps = depth * Left::depths;
            const ep::Factor left = {storage, a + k * g.column[EP_A], g.line[EP_A], g.column[EP_A], m,
                                     depth,   g.conjugate[0] != 0};
            ep::pack<Left>(left, a_panels, tile.rows);
            const char* const from = b + k * g.line[EP_B];
            int64_t done = 0;
            if (m == 1 && is_dense)
                done = tile.multiply_row(a_panels, from, g.line[EP_B] / int64_t{sizeof(T)}, steps, sums, n);
            const ep::Factor right = {storage, from + done * g.column[EP_B], g.column[EP_B], g.line[EP_B], n - done,
                                      depth,   g.conjugate[1] != 0};
            ep::pack<Right>(right, b_panels, tile.columns);
            for (int64_t j = 0; j * tile.columns < (n - done) * Right::widths; ++j)
                for (int64_t i = 0; i * tile.rows < m; ++i)
                    tile.multiply(a_panels + i * tile.rows * steps, b_panels + j * tile.columns * steps, steps,
                                  sums + i * tile.rows * step + done + j * tile.columns, step,
                                  static_cast<int>(m - i * tile.rows));
        }
    }
}

template <class Left, class Right, class Row>
void run_tile(const Job& job, int64_t batch, int64_t row, int64_t column, char* memory) {
    using T = typename Left::Sum;
    const ep_matmul_plan& g = *job.plan;
    auto* const sums = reinterpret_cast<T*>(memory + A_BYTES + B_BYTES);
    const int64_t m = std::min(job.rows, g.m - row), n = std::min(job.columns, g.n - column);
    const int64_t step = round_up(n * Right::widths, job.tile->columns);
    std::memset(sums, 0, static_cast<size_t>(round_up(m, job.tile->rows) * step) * sizeof(T));
    const bool is_scaled = !is_zero(job.alpha), reads_out = !is_zero(job.beta);
    if (is_scaled) sum_tile<Left, Right>(job, batch, row, column, sums, step, memory);

    static constexpr double ONE[2] = {1, 0}, NONE[EP_ATTRIBUTES] = {};
    alignas(ep::LINE) char block[ep::BLOCK * 16];
    const ep_storage& storage = *g.row->to;
    char* const out = matrix(g, job.at[EP_OUT], EP_OUT, batch, 0, g.kept) + column * g.column[EP_OUT];
    const char* const bias = matrix(g, job.at[EP_BIAS], EP_BIAS, batch, 0, g.kept) + column * g.column[EP_BIAS];
    for (int64_t i = 0; i < m; ++i) {
        T* const values = sums + i * step;
        char* const to = out + (row + i) * g.line[EP_OUT];
        if (is_scaled && !is_one(job.alpha)) Row::scale(values, n, job.alpha);
        if (reads_out) Row::add(values, storage.load(to, g.column[EP_OUT], n, block), n, job.beta);
        if (g.has_bias) {
            const char* const from = bias + (row + i) * g.line[EP_BIAS];
            Row::add(values, storage.load(from, g.column[EP_BIAS], n, block), n, ONE);
        }
        if (g.activation != nullptr) g.activation->body(values, nullptr, values, n, NONE, -1);
        storage.store(values, to, g.column[EP_OUT], n, false);
    }
}

template <class S, class T>
void choose_real(Job& job) {
    job.run = run_tile<ep::RealElement<S, T>, ep::RealElement<S, T>, RealRow<T>>;
    job.panel = job.tile->columns;
    job.columns = COLUMN_BYTES / int64_t{sizeof(T)};
}
template <class T>
void choose_complex(Job& job) {
    job.run = run_tile<ep::LeftElement<T>, ep::RightElement<T>, ComplexRow<T>>;
    job.panel = job.tile->columns / 2;
    job.columns = COLUMN_BYTES / int64_t{2 * sizeof(T)};
}
void choose(Job& job) {
    job.tile = static_cast<const ep::Tile*>(job.plan->row->code);
    switch (job.plan->dtype) {
        case EP_float64:
            return choose_real<double, double>(job);
        case EP_complex64:
            return choose_complex<float>(job);
        case EP_complex128:
            return choose_complex<double>(job);
        case EP_int8:
            return choose_real<int8_t, int32_t>(job);
        case EP_uint8:
            return choose_real<uint8_t, int32_t>(job);
        default:
            return choose_real<float, float>(job);
    }
}

// Equal tiles, as large as the panels, but smaller while threads would be without one. A value does not depend on them.
void cut(Job& job) {
    const ep_matmul_plan& g = *job.plan;
    const int64_t most = job.columns, wanted = 2 * int64_t{ep::threads()};
    job.batches = extents(g, 0, g.kept);
    job.down = ceil_div(g.m, ROWS);
    job.across = ceil_div(g.n, most);
    for (;;) {
        job.rows = round_up(ceil_div(g.m, job.down), job.tile->rows);
        job.columns = round_up(ceil_div(g.n, job.across), job.panel);
        if (job.batches * job.down * job.across >= wanted) break;
        if (job.columns > 2 * job.panel && job.columns >= job.rows)
            ++job.across;
        else if (job.rows > 4 * job.tile->rows)
            ++job.down;
        else
            break;
    }
    job.down = ceil_div(g.m, job.rows);
    job.across = ceil_div(g.n, job.columns);
    job.tiles = job.batches * job.down * job.across;
}

void run_part(void* context, int part) {
    Job& job = *static_cast<Job*>(context);
    char* const memory = workspace();
    if (memory == nullptr) {
        job.status.store(ENOMEM, std::memory_order_relaxed);
        return;
    }
    const int64_t end = job.tiles * (part + 1) / job.parts;
    for (int64_t t = job.tiles * part / job.parts; t < end; ++t) {
        const int64_t inside = t % (job.down * job.across);
        job.run(job, t / (job.down * job.across), inside / job.across * job.rows, inside % job.across * job.columns,
                memory);
    }
}

// Products below which another thread is not worth waking.
constexpr double GRAIN = 1 << 20;

}  // namespace

int ep::matmul(const void* packed) {
    const auto& g = plan_of<ep_matmul_plan>(packed);
    ep::count_call();
    Job job = {};
    job.plan = &g;
    for (int i = 0; i < EP_MATRICES; ++i) job.at[i] = place_of(packed, g.place[i], g.offset[i]);
    const char* const numbers = numbers_of(packed, EP_MATRICES);
    std::memcpy(job.alpha, numbers, sizeof job.alpha);
    std::memcpy(job.beta, numbers + EP_NUMBER, sizeof job.beta);
    choose(job);
    cut(job);
    const double products = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) *
                            static_cast<double>(extents(g, 0, g.ndim));
    const int64_t worth = products < GRAIN ? 1 : 16 * int64_t{ep::threads()};
    job.parts = static_cast<int>(std::min(job.tiles, worth));
    ep::parallel(job.parts, run_part, &job);
    return job.status.load(std::memory_order_relaxed);
}

extern "C" int64_t ep_workspace(void) {
    return kept;
}
