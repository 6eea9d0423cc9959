// Some rows of a, and a factor b that they meet where it lies: memory gives faster what follows one another, and panels
// of b would be met too rarely.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "job.h"

namespace {

using namespace ep::products;

// Elements of b of which panels are as quick.
constexpr int64_t LEAST_LYING = 8192;

// Columns of b that meet a few rows of a along the whole depth, one after the other, where it lies so.
constexpr int64_t ALONG = 32;

// Elements [begin, end) of m rows of a as sums are kept, `line` bytes from row to row.
void stage(const Job& job, const char* a, int m, int64_t begin, int64_t end, char* to, int64_t line) {
    const ep_matmul_plan& g = *job.plan;
    const int64_t size = job.tile->sum;
    for (int i = 0; i < m; ++i)
        for (int64_t k = begin, some; k < end; k += some) {
            some = std::min(ep::BLOCK, end - k);
            char* const own = to + i * line + (k - begin) * size;
            const char* const at = a + i * g.line[EP_A] + k * g.column[EP_A];
            const void* const x = g.row->from->load(at, g.column[EP_A], some, own);
            if (x != own) std::memcpy(own, x, static_cast<size_t>(some * size));
        }
}

// Where a tile's rows of a begin in one of the batches that it sums over, and its columns of b.
std::pair<const char*, const char*> factors(const Job& job, int64_t batch, int64_t row, int64_t column, int64_t s) {
    const ep_matmul_plan& g = *job.plan;
    const auto at = [&](int operand) {
        return matrix(g, matrix(g, job.at[operand], operand, batch, 0, g.kept), operand, s, g.kept, g.ndim);
    };
    return {at(EP_A) + row * g.line[EP_A], at(EP_B) + column * g.column[EP_B]};
}

// Terms of a tile of b.
int64_t terms_of(const ep::Tile& tile) {
    return int64_t{tile.terms} * tile.whole;
}

// Whether elements lie side by side along the depth of b, or across it.
bool lies_along(const ep_matmul_plan& g) {
    return g.line[EP_B] == g.row->from->size && std::abs(g.column[EP_B]) > g.line[EP_B];
}
bool lies_across(const ep_matmul_plan& g) {
    return g.column[EP_B] == g.row->from->size && g.column[EP_B] <= std::abs(g.line[EP_B]);
}

}  // namespace

namespace ep::products {

bool is_far(const ep_matmul_plan& g) {
    const int64_t nbytes = std::max(g.k * std::abs(g.line[EP_B]), g.n * std::abs(g.column[EP_B]));
    return FORESEES ? 2 * nbytes >= FETCHING : 4 * nbytes >= 3 * OWN * ep::threads();
}

bool is_few(const ep_matmul_plan& g, const Tile& tile) {
    return tile.multiply_few != nullptr && g.windows == nullptr &&
           ((g.m <= tile.few_along && lies_along(g)) || (g.m <= tile.few_across && lies_across(g)));
}

void sum_few(const Job& job, int64_t batch, int64_t row, int64_t column, char* sums, int64_t step, char* memory) {
    const ep_matmul_plan& g = *job.plan;
    const Tile& tile = *job.tile;
    const ep_storage& storage = *g.row->from;
    const int64_t n = std::min(job.columns, g.n - column), most = depth_of(tile), size = tile.sum;
    const auto m = static_cast<int>(std::min(job.rows, g.m - row));
    const int64_t columns = lies_along(g) ? ALONG : n;
    const bool lies = storage.is_direct && g.column[EP_A] == size, is_staged_whole = m * g.k * size <= A_BYTES;
    const int64_t line = lies ? g.line[EP_A] : (is_staged_whole ? g.k : most) * size;
    for (int64_t s = 0, summed = extents(g, g.kept, g.ndim); s < summed; ++s) {
        const auto [a, b] = factors(job, batch, row, column, s);
        if (!lies && is_staged_whole) stage(job, a, m, 0, g.k, memory, line);
        for (int64_t from = 0; from < n; from += columns)
            for (int64_t k = 0; k < g.k; k += most) {
                const int64_t depth = std::min(most, g.k - k);
                if (!lies && !is_staged_whole) stage(job, a, m, k, k + depth, memory, line);
                const char* const values = lies ? a + k * size : is_staged_whole ? memory + k * size : memory;
                tile.multiply_few(values, line, m,
                                  {&storage, b + from * g.column[EP_B] + k * g.line[EP_B], g.column[EP_B], g.line[EP_B],
                                   std::min(columns, n - from), depth, false, is_far(g)},
                                  sums + from * tile.sum, step);
            }
    }
}

bool is_lying(const ep_matmul_plan& g, const Tile& tile) {
    const bool has_kernel = (tile.multiply_lying_along != nullptr && lies_along(g)) ||
                            (tile.multiply_lying_across != nullptr && lies_across(g));
    return has_kernel && g.windows == nullptr && g.m <= tile.rows && g.n >= 2 * LYING_COLUMNS &&
           g.k >= terms_of(tile) && g.n * g.k >= LEAST_LYING;
}

namespace {

// Rows of a as panels of both kinds, of the left factor and of the right one, and how small their elements are.
struct Rows {
    char *left, *right;
    int64_t depth;
    int least;
};

// Columns of b by such rows.
void sum_columns(const Tile& tile, const Rows& a, const Factor& b, int64_t m, char* sums, int64_t step, bool* agrees,
                 char* panel) {
    const int64_t steps = tile.steps(b.depth), whole = b.depth % terms_of(tile) == 0 ? b.width / LYING_COLUMNS : 0;
    const bool is_along = b.depth_step == b.storage->size;
    if (whole != 0)
        (is_along ? tile.multiply_lying_along : tile.multiply_lying_across)(is_along ? a.right : a.left, b, a.least,
                                                                            static_cast<int>(m), sums, step, agrees);
    // Columns that make no block, and products that do not agree, have panels.
    for (int64_t j = 0; j * LYING_COLUMNS < b.width; ++j) {
        if (j < whole && agrees[j]) continue;
        const int64_t from = j * LYING_COLUMNS;
        tile.pack_right({tile.storage, b.at + from * b.width_step, b.width_step, b.depth_step,
                         std::min(LYING_COLUMNS, b.width - from), b.depth, false},
                        panel);
        multiply_of(tile, a.least, least_of(tile, panel, LYING_COLUMNS * steps), agrees[j])(
            a.left, panel, steps, sums + from * tile.sum, step, static_cast<int>(m), true, panel);
    }
}

// Tiles of b across its depth that sums meet at a time: of a factor from beyond a core's own cache one, whose rows
// follow one another in memory.
int64_t tiles_across(const ep_matmul_plan& g) {
    return g.k * std::abs(g.line[EP_B]) > OWN ? 1 : 4;
}

// Panels of rows that have room beside one of columns.
constexpr int64_t PANEL = LYING_COLUMNS * DEPTH * int64_t{sizeof(float)};
constexpr int64_t MOST_PANELS = (A_BYTES + B_BYTES) / (2 * PANEL) - 1;
using Panels = std::array<Rows, MOST_PANELS>;

// Packs m rows from term k on, as many terms as there is room for, or as blocks across the depth have; returns how many
// panels that makes.
size_t pack_rows(const Job& job, const char* a, int64_t k, int64_t m, char* memory, Panels& panels) {
    const ep_matmul_plan& g = *job.plan;
    const Tile& tile = *job.tile;
    const bool is_along = lies_along(g);
    const int64_t most = is_along ? depth_of(tile) : tiles_across(g) * terms_of(tile);
    size_t count = 0;
    for (; k < g.k && count < (is_along ? panels.size() : 1); k += panels[count++].depth) {
        const int64_t whole = std::min((g.k - k) / terms_of(tile) * terms_of(tile), most);
        char* const at = memory + 2 * static_cast<int64_t>(count) * PANEL;
        Rows& own = panels[count] = {at, at + PANEL, whole == 0 ? g.k - k : whole, 0};
        const Factor rows = {tile.storage, a + k * g.column[EP_A], g.line[EP_A], g.column[EP_A], m, own.depth, false};
        tile.pack_left(rows, own.left);
        if (is_along) tile.pack_right(rows, own.right);
        own.least = least_of(tile, own.left, tile.rows * tile.steps(own.depth));
    }
    return count;
}

}  // namespace

// Along its depth each block of columns is read to the end, across it all blocks of a tile's rows.
void sum_lying(const Job& job, int64_t batch, int64_t row, int64_t column, char* sums, int64_t step, char* memory) {
    const ep_matmul_plan& g = *job.plan;
    const Tile& tile = *job.tile;
    const int64_t m = std::min(job.rows, g.m - row), n = std::min(job.columns, g.n - column);
    const int64_t columns = lies_along(g) ? LYING_COLUMNS : n;
    std::array<bool, COLUMN_BYTES / int64_t{sizeof(float)} / LYING_COLUMNS> agrees;
    agrees.fill(true);
    Panels panels;
    for (int64_t s = 0, summed = extents(g, g.kept, g.ndim); s < summed; ++s) {
        const auto [a, b] = factors(job, batch, row, column, s);
        for (int64_t k = 0, end; k < g.k; k = end) {
            const size_t count = pack_rows(job, a, k, m, memory + PANEL, panels);
            for (int64_t j = 0; j < n; j += columns) {
                end = k;
                for (size_t p = 0; p < count; end += panels[p++].depth)
                    sum_columns(tile, panels[p],
                                {tile.storage, b + end * g.line[EP_B] + j * g.column[EP_B], g.column[EP_B],
                                 g.line[EP_B], std::min(columns, n - j), panels[p].depth, false},
                                m, sums + j * tile.sum, step, agrees.data() + j / LYING_COLUMNS, memory);
            }
        }
    }
}

}  // namespace ep::products
