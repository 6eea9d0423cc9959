// Matmul: tiles of the output, each summed in panels that fit the caches, then finished row by row.
#include <algorithm>
#include <cerrno>

#include "job.h"
#include "runtime/count.h"

namespace {

using ep::ceil_div;
using ep::DEPTH;
using ep::Ending;
using namespace ep::products;

// Bytes of the sums of a single row.
constexpr int64_t ROW_BYTES = 32768;

// Sums that are turned at a time: columns, at least, and bytes that stay in the nearest cache.
constexpr int64_t TURNED = 4, TURNED_BYTES = 16384;
// Rows that take as long as fewer do, whose sums wait for each other.
constexpr int64_t LEAST_CHAINS = 4;

// The same of sums whose rows and columns are exchanged.
Ending transposed(Ending ending) {
    std::swap(ending.line, ending.column);
    std::swap(ending.bias_line, ending.bias_column);
    return ending;
}

bool is_zero(const double* number) {
    return number[0] == 0 && number[1] == 0;
}
bool is_one(const double* number) {
    return number[0] == 1 && number[1] == 0;
}

// Sum one tile of one batch into `sums`, whose rows are `step` sums apart; they end at once if there is an `ending`.
void sum_tile(const Job& job, int64_t batch, int64_t row, int64_t column, char* sums, int64_t step, char* panels,
              const Ending* ending) {
    const ep_matmul_plan& g = *job.plan;
    const ep::Tile& tile = *job.tile;
    char *const a_panels = panels, *const b_panels = panels + A_BYTES;
    const int64_t m = std::min(job.rows, g.m - row), n = std::min(job.columns, g.n - column);
    const int64_t most = depth_of(tile), summed = extents(g, g.kept, g.ndim);
    const int64_t across = ceil_div(n * tile.widths, tile.columns);
    bool agrees = true;
    for (int64_t s = 0; s < summed; ++s) {
        const char* a = matrix(g, matrix(g, job.at[EP_A], EP_A, batch, 0, g.kept), EP_A, s, g.kept, g.ndim);
        const char* b = matrix(g, matrix(g, job.at[EP_B], EP_B, batch, 0, g.kept), EP_B, s, g.kept, g.ndim);
        a += row * g.line[EP_A];
        for (int64_t k = 0; k < g.k; k += most) {
            const int64_t depth = std::min(most, g.k - k), steps = tile.steps(depth);
            const char* const left = a + k * g.column[EP_A];
            if (job.is_row) {
                const char* const right = b + column * g.column[EP_B] + k * g.line[EP_B];
                const ep_storage* const staged = g.row->from;
                alignas(ep::LINE) char block[ep::BLOCK * 8];
                const void* const values = staged->load(left, g.column[EP_A], depth, block);
                tile.multiply_row(values, {staged, right, g.column[EP_B], g.line[EP_B], n, depth, false, is_far(g)},
                                  sums);
                continue;
            }
            const Side right = right_panels(job, b, k, depth, column, n, a_panels, b_panels);
            for (int64_t from = 0; from < m; from += BLOCK_ROWS) {
                const int64_t rows = std::min(BLOCK_ROWS, m - from);
                const Side own = left_panels(job, left + from * g.line[EP_A], k, depth, row + from, rows, a_panels);
                const bool ends = ending != nullptr && s + 1 == summed && k + most >= g.k;
                const Ending below = ends ? ending_from(*ending, from, 0) : Ending{};
                multiply_panels(tile, multiply_of(tile, own.least, right.least, agrees), own.at, right.at, rows, across,
                                steps, sums + from * step * tile.sum, step, s + k != 0, ends ? &below : nullptr);
            }
        }
    }
}

// Whether sums of all threads, those of idle ones among them, are fewer by a tenth and more.
bool is_shorter(int64_t sums, int64_t others) {
    return 10 * sums < 9 * others;
}

int64_t wanted_tiles() {
    const int64_t threads = ep::threads();
    return threads == 1 ? 1 : 2 * threads;
}

// Rows of a tile of so many columns, as many as its sums have room for: those that go where they belong need none, but
// are added to from a core's own cache, if they are more than once.
int64_t most_rows(const Job& job, int64_t columns) {
    const ep_matmul_plan& g = *job.plan;
    if (!job.is_plain || !is_whole(job, g.m, g.n)) return ROWS;
    if (g.k <= depth_of(*job.tile)) return 4 * ROWS;
    return std::max(ROWS, SUM_BYTES / (columns * job.tile->widths * job.tile->sum));
}

// Equal tiles, as large as the panels, but smaller while some threads wait for others. A value does not depend on them.
void cut(Job& job) {
    const ep_matmul_plan& g = *job.plan;
    const ep::Tile& tile = *job.tile;
    const int64_t most = job.columns, panel = tile.columns / tile.widths, threads = ep::threads();
    job.batches = extents(g, 0, g.kept);
    const int64_t whole = job.batches * round_up(g.m, tile.rows) * round_up(g.n, panel);
    int64_t across = ceil_div(g.n, most),
            down = ceil_div(g.m, most_rows(job, ceil_div(g.n, std::max(across, threads))));
    for (int64_t least = 0;;) {
        const int64_t rows = round_up(ceil_div(g.m, down), tile.rows), columns = round_up(ceil_div(g.n, across), panel);
        const int64_t tiles = job.batches * ceil_div(g.m, rows) * ceil_div(g.n, columns),
                      taken = round_up(tiles, threads) * rows * columns;
        if (least == 0 || is_shorter(taken, least)) {
            least = taken;
            job.rows = rows;
            job.columns = columns;
        }
        if (!is_shorter(whole, taken)) break;
        if (columns > 2 * panel && columns * (1 + tile.ahead) >= rows)
            ++across;
        else if (rows > 4 * tile.rows)
            ++down;
        else
            break;
    }
    job.down = ceil_div(g.m, job.rows);
    job.across = ceil_div(g.n, job.columns);
}

// Small products by rows, as many as sums have room for, but fewer while threads would be without some. Parts of rows
// would each copy all of b, where it is copied: as many parts of columns then, while a stays in a core's own cache.
void cut_small(Job& job) {
    const ep_matmul_plan& g = *job.plan;
    const int64_t tile = job.tile->rows, panel = job.tile->columns / job.tile->widths,
                  most = SUM_BYTES / (g.n * job.tile->sum) / tile * tile, nbytes = g.m * g.k * g.row->from->size;
    job.batches = extents(g, 0, g.kept);
    const int64_t wanted = ceil_div(wanted_tiles(), job.batches), across = std::min(wanted, g.n / (2 * panel)),
                  down = std::max({int64_t{1}, ceil_div(g.m, most), std::min(wanted, g.m / (4 * tile))});
    const bool is_by_columns =
        ep::is_copied(ceil_div(g.m, tile), g.k, g.line[EP_B]) && across >= down && g.m <= most && nbytes <= ep::OWN / 2;
    job.rows = round_up(ceil_div(g.m, is_by_columns ? 1 : down), tile);
    job.columns = is_by_columns ? round_up(ceil_div(g.n, across), panel) : g.n;
    job.down = ceil_div(g.m, job.rows);
    job.across = ceil_div(g.n, job.columns);
}

template <class T>
void run_tile(const Job& job, int64_t batch, int64_t row, int64_t column, char* memory) {
    const ep_matmul_plan& g = *job.plan;
    char* const sums = memory + A_BYTES + B_BYTES;
    const int64_t m = std::min(job.rows, g.m - row), n = std::min(job.columns, g.n - column);
    const bool is_in_place = job.is_row || job.is_few || job.is_lying;
    if (job.is_plain && !is_in_place && is_whole(job, m, n)) {
        const Ending ending = ending_of(job, batch, row, column);
        return sum_tile(job, batch, row, column, ending.out, g.line[EP_OUT] / int64_t{sizeof(T)}, memory,
                        g.has_bias ? &ending : nullptr);
    }
    const int64_t step = round_up(n * job.tile->widths, job.tile->columns);
    const int64_t rows = job.is_row || job.is_few ? m : round_up(m, job.tile->rows);
    const bool is_empty = is_zero(job.alpha) || g.k == 0 || extents(g, g.kept, g.ndim) == 0;
    if (is_empty || is_in_place) std::memset(sums, 0, static_cast<size_t>(rows * step) * sizeof(T));
    if (!is_empty && job.is_few)
        sum_few(job, batch, row, column, sums, step, memory);
    else if (!is_empty && job.is_lying)
        sum_lying(job, batch, row, column, sums, step, memory);
    else if (!is_empty)
        sum_tile(job, batch, row, column, sums, step, memory, nullptr);
    finish(job, batch, row, column, sums, step, m, n);
}

// A factor as it lies, if sums are kept in its type, or else staged in `memory`, along its smaller stride.
template <class T>
ep::Lying<T> lying(const ep_storage& storage, const char* at, int64_t m, int64_t n, int64_t line, int64_t column,
                   char* memory) {
    constexpr auto SIZE = int64_t{sizeof(T)};
    if (storage.is_direct && line % SIZE == 0 && column % SIZE == 0)
        return {reinterpret_cast<const T*>(at), line / SIZE, column / SIZE};
    T* const to = reinterpret_cast<T*>(memory);
    const bool is_along = std::abs(column) <= std::abs(line);
    int64_t runs = is_along ? m : n, length = is_along ? n : m;
    const int64_t step = is_along ? column : line, next = is_along ? line : column, kept = length;
    if (next == length * step && runs * length <= ep::BLOCK) {
        length *= runs;
        runs = 1;
    }
    for (int64_t i = 0; i < runs; ++i)
        for (int64_t from = 0; from < length; from += ep::BLOCK) {
            const int64_t count = std::min(ep::BLOCK, length - from);
            T* const staged = to + i * length + from;
            const void* const x = storage.load(at + i * next + from * step, step, count, staged);
            if (x != staged) std::memcpy(staged, x, static_cast<size_t>(count) * sizeof(T));
        }
    return {to, is_along ? kept : 1, is_along ? 1 : kept};
}

// Bytes of the sums of rows that are biased while they are in a core's cache.
constexpr int64_t BIASED_BYTES = 32768;

// A part of a small product; with nothing to add but a bias its sums are written where they belong.
template <class T>
void run_small(const Job& job, int64_t batch, int64_t row, int64_t column, char* memory) {
    const ep_matmul_plan& g = *job.plan;
    const ep_storage& storage = *g.row->from;
    const int64_t m = std::min(job.rows, g.m - row), n = std::min(job.columns, g.n - column);
    auto a = lying<T>(storage, matrix(g, job.at[EP_A], EP_A, batch, 0, g.kept) + row * g.line[EP_A], m, g.k,
                      g.line[EP_A], g.column[EP_A], memory);
    const auto b = lying<T>(storage, matrix(g, job.at[EP_B], EP_B, batch, 0, g.kept) + column * g.column[EP_B], g.k, n,
                            g.line[EP_B], g.column[EP_B], memory + A_BYTES);
    if (job.is_plain) {
        const Ending ending = ending_of(job, batch, row, column);
        const int64_t step = g.line[EP_OUT] / int64_t{sizeof(T)}, tile = job.tile->rows;
        const int64_t most = std::max<int64_t>(1, BIASED_BYTES / (tile * n * int64_t{sizeof(T)})) * tile;
        for (int64_t i = 0, some; i < m; i += some, a.at += some * a.line) {
            some = std::min(g.has_bias ? most : m, m - i);
            const Ending own = ending_from(ending, i, 0);
            job.tile->multiply_small(&a, &b, some, n, g.k, own.out, step);
            if (g.has_bias) job.tile->finish(own, own.out, step, some, n);
        }
        return;
    }
    char* const sums = memory + A_BYTES + B_BYTES;
    job.tile->multiply_small(&a, &b, m, n, g.k, sums, n);
    const bool is_one_row = m == g.m && !g.has_bias && n == g.n && g.line[EP_OUT] == n * g.column[EP_OUT];
    finish(job, batch, row, column, sums, n, is_one_row ? 1 : m, is_one_row ? m * n : n);
}

// Factors of so few elements are read where they lie, b by each panel's rows of a; products of so few terms if they
// have to be staged.
constexpr int64_t SMALL_A = 8192, SMALL_B = 65536, SMALL_STAGED = 32768;

bool is_small(const Job& job) {
    const ep_matmul_plan& g = *job.plan;
    return job.tile->multiply_small != nullptr && g.windows == nullptr && g.kept == g.ndim && g.k > 0 && g.k <= DEPTH &&
           g.k * g.n <= SMALL_B && g.n * job.tile->rows * job.tile->sum <= SUM_BYTES &&
           std::abs(g.column[EP_B]) <= std::abs(g.line[EP_B]) && !is_zero(job.alpha) &&
           (g.row->from->is_direct ? g.column[EP_B] == g.row->from->size
                                   : g.m * g.k <= SMALL_A && g.m * g.n * g.k <= SMALL_STAGED);
}

template <class T>
void choose_run(Job& job) {
    const ep_matmul_plan& g = *job.plan;
    job.is_scaled = !is_zero(job.alpha) && !is_one(job.alpha);
    job.reads_out = !is_zero(job.beta);
    // Sums of several depths are better kept together until the last one than read and written where they belong.
    const bool is_biased_plainly = (g.column[EP_BIAS] == 0 || g.column[EP_BIAS] == int64_t{sizeof(T)}) &&
                                   g.k <= depth_of(*job.tile) && extents(g, g.kept, g.ndim) == 1;
    job.is_plain = is_one(job.alpha) && !job.reads_out && (!g.has_bias || is_biased_plainly) &&
                   g.activation == nullptr && g.row->to->is_direct && g.column[EP_OUT] == int64_t{sizeof(T)} &&
                   g.line[EP_OUT] % int64_t{sizeof(T)} == 0 && g.k != 0 && extents(g, g.kept, g.ndim) != 0;
    job.is_tiled = !job.is_row && !job.is_few && !job.is_lying && !is_small(job);
    if (is_small(job)) {
        job.run = run_small<T>;
        cut_small(job);
    } else {
        job.run = run_tile<T>;
        cut(job);
    }
}

// A row of b is read where it lies, if one row of a is all that meets it.
bool is_row(const ep_matmul_plan& g, const ep::Tile& tile) {
    return g.m == 1 && tile.multiply_row != nullptr && g.windows == nullptr &&
           std::abs(g.column[EP_B]) <= std::abs(g.line[EP_B]);
}

// Whether rows of a meet panels of a constant b in place of b as it lies: as long as b stays in a cache from one launch
// to the next; always those of instructions for tiles, but a single row, which would leave most of a tile empty.
bool has_panels(const Job& job) {
    const ep_matmul_plan& g = *job.plan;
    const bool is_tiled = job.tile->multiply_lying_along != nullptr;
    return job.is_constant[EP_B] && (is_tiled ? g.m > 1 : g.n * g.k * g.row->from->size < ep::STREAMING);
}

void choose(Job& job) {
    job.tile = &static_cast<const ep::Tile*>(job.plan->row->code)->best();
    const bool meets_b = !has_panels(job);
    job.is_row = meets_b && is_row(*job.plan, *job.tile);
    job.is_few = meets_b && !job.is_row && is_few(*job.plan, *job.tile);
    job.is_lying = meets_b && !job.is_row && !job.is_few && is_lying(*job.plan, *job.tile);
    job.columns = (job.is_row || job.is_few ? ROW_BYTES : COLUMN_BYTES) / (job.tile->sum * job.tile->widths);
    switch (job.plan->dtype) {
        case EP_float64:
            return choose_run<double>(job);
        case EP_complex64:
            return choose_run<float>(job);
        case EP_complex128:
            return choose_run<double>(job);
        case EP_int8:
        case EP_uint8:
            return choose_run<int32_t>(job);
        default:
            return choose_run<float>(job);
    }
}

void run_part(void* context, int part) {
    Job& job = *static_cast<Job*>(context);
    char* const memory = workspace();
    if (memory == nullptr) {
        job.status.store(ENOMEM, std::memory_order_relaxed);
        return;
    }
    const ep::Multiplying multiplying(*job.tile);
    const int64_t end = job.tiles * (part + 1) / job.parts;
    for (int64_t t = job.tiles * part / job.parts; t < end; ++t) {
        const int64_t inside = t % (job.down * job.across);
        job.run(job, t / (job.down * job.across), inside / job.across * job.rows, inside % job.across * job.columns,
                memory);
    }
}

// Products below which another thread is not worth waking.
constexpr double GRAIN = 1 << 20;
// Fewer rows take as long as so many: what they meet has to come from memory.
constexpr int64_t LEAST_ROWS = 3;
// Rows or columns of the other factor for which packing one takes no part of the time.
constexpr int64_t MANY = 4096;

// Whether all batches and sums have one matrix of an operand, whose panels serve for few enough products.
bool is_worth_keeping(const ep_matmul_plan& g, int operand) {
    for (int d = 0; d < g.ndim; ++d)
        if (g.extent[d] != 1 && g.stride[operand][d] != 0) return false;
    return windows_of(g, operand) == nullptr && (operand == EP_A ? g.n : g.m) <= MANY;
}

}  // namespace

ep::Ending ep::products::ending_of(const Job& job, int64_t batch, int64_t row, int64_t column) {
    const ep_matmul_plan& g = *job.plan;
    const auto place = [&](int operand) {
        return matrix(g, job.at[operand], operand, batch, 0, g.kept) + row * g.line[operand] +
               column * g.column[operand];
    };
    return {g.row->to,
            g.activation,
            g.has_bias ? place(EP_BIAS) : nullptr,
            g.line[EP_BIAS],
            g.column[EP_BIAS],
            place(EP_OUT),
            g.line[EP_OUT],
            g.column[EP_OUT],
            job.is_scaled,
            job.reads_out,
            {job.alpha[0], job.alpha[1]},
            {job.beta[0], job.beta[1]}};
}

void ep::products::finish(const Job& job, int64_t batch, int64_t row, int64_t column, void* sums, int64_t step,
                          int64_t m, int64_t n) {
    const Ending ending = ending_of(job, batch, row, column);
    const ep::Tile& tile = *job.tile;
    const int64_t line = round_up(m, ep::LINE / tile.sum), nbytes = line * tile.sum;
    const bool are_columns = std::abs(ending.line) < std::abs(ending.column) && m * tile.sum >= ep::LINE;
    if (tile.turn == nullptr || !are_columns || TURNED * nbytes > A_BYTES) return tile.finish(ending, sums, step, m, n);
    // Neighbours in out are a column of sums, for which there is room: panels of a are no longer needed.
    char* const turned = workspace();
    const int64_t most = std::max(TURNED, TURNED_BYTES / nbytes / TURNED * TURNED);
    for (int64_t from = 0; from < n; from += most) {
        const int64_t some = std::min(most, n - from);
        tile.turn(static_cast<char*>(sums) + from * tile.sum, step, m, some, turned, line);
        tile.finish(transposed(ending_from(ending, 0, from)), turned, line, some, m);
    }
}

int ep::matmul(const void* packed) {
    const auto& g = plan_of<ep_matmul_plan>(packed);
    ep::count_call();
    Job job = {};
    job.plan = &g;
    for (int operand : {EP_A, EP_B}) job.is_constant[operand] = g.constant[operand] != nullptr;
    for (int i = 0; i < EP_MATRICES; ++i) job.at[i] = place_of(packed, g.place[i], g.offset[i]);
    const char* const numbers = numbers_of(packed, EP_MATRICES);
    std::memcpy(job.alpha, numbers, sizeof job.alpha);
    std::memcpy(job.beta, numbers + EP_NUMBER, sizeof job.beta);
    choose(job);
    if (job.is_tiled)
        for (int operand : {EP_A, EP_B}) job.constant[operand] = constant_panels(job, operand, g.constant[operand]);
    if (is_shared(job)) return multiply_shared(job);
    job.tiles = job.batches * job.down * job.across;
    const double products = static_cast<double>(std::max(g.m, LEAST_ROWS)) * static_cast<double>(g.n) *
                            static_cast<double>(g.k) * static_cast<double>(extents(g, 0, g.ndim));
    const int64_t worth = products < GRAIN ? 1 : 16 * int64_t{ep::threads()};
    job.parts = static_cast<int>(std::min(job.tiles, worth));
    ep::parallel(job.parts, run_part, &job);
    return job.status.load(std::memory_order_relaxed);
}

int64_t ep_matmul_sums(const ep_row* row, int64_t m, int64_t n) {
    const ep::Tile& tile = static_cast<const ep::Tile*>(row->code)->best();
    const int64_t rest = m % tile.rows, rows = m - rest + (rest == 0 ? 0 : tile.taken(std::max(rest, LEAST_CHAINS)));
    return rows * round_up(n * tile.widths, tile.columns) / tile.widths;
}

int64_t ep_matmul_constant(const ep_matmul_plan* plan, int operand) {
    Job job = {};
    job.plan = plan;
    job.is_constant[operand] = true;
    job.alpha[0] = 1;
    choose(job);
    return job.is_tiled && is_worth_keeping(*plan, operand) ? ep::products::constant_bytes(job, operand) : 0;
}
