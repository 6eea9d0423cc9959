// Reduce: the tree that joins a row, and how threads share it.
//
// A row is cut into chunks, in each of which a state takes in at most DEPTH groups of elements; chunks are joined
// pairwise. Where the elements of a run are neighbours, a chunk has a state for each of LANES columns of the run,
// joined by halves in the end; elsewhere it has one. A row of one run of few neighbours has 16, 8 or 4 lanes, joined by
// neighbours. So the tree is made of the extents and strides of the row alone: README.md, "Reductions", has its height.
// Rows side by side go through it together, and threads take rows, or chunks by a power of two, which are branches of
// the tree.
#include <algorithm>
#include <cmath>

#include "reducer.h"
#include "rows.h"
#include "runtime/count.h"
#include "runtime/pool.h"
#include "types/storage.h"

namespace {

#include "job.h"

// n elements of one row into LANES states.
void take_along(const Job& job, const char* at, int64_t n, const ep::Lens& lens, char* states) {
    const ep::Reducer& r = job.r;
    const int64_t most = job.from.is_direct ? n : ep::BLOCK, lanes = LANES * r.parts;
    alignas(ep::LINE) char block[ep::BLOCK * WIDEST];
    int64_t i = 0;
    if (r.stored != nullptr && n >= LANES) {
        r.stored(states, at, LANES * job.step, n / LANES, LANES, lens);
        i = n / LANES * LANES;
    }
    for (int64_t m; i < n; i += m) {
        m = std::min(most, n - i);
        const auto* const x = static_cast<const char*>(job.from.load(at + i * job.step, job.step, m, block));
        const int64_t whole = m / LANES, rest = m % LANES;
        if (whole != 0) r.joint->take(states, x, lanes, whole, lanes, lens);
        if (rest != 0) r.joint->take(states, x + whole * LANES * job.from.staged_size, 0, 1, rest * r.parts, lens);
    }
}

// Rows side by side from which on they come in as they are stored.
constexpr int64_t WORTH_STORED = 16;

// n elements each of `width` rows that are `across` bytes apart, into a state a row.
void take_across(const Job& job, const char* at, int64_t across, int64_t width, int64_t n, const ep::Lens& lens,
                 char* states) {
    const ep_storage& from = job.from;
    const ep::Joint& joint = *job.r.joint;
    const int64_t parts = job.r.parts;
    if (job.r.stored != nullptr && across == from.size && width >= WORTH_STORED) {
        const int64_t done = job.r.stored(states, at, job.step, n, width, lens);
        if (done == width) return;
        at += done * across;
        states += done * job.size;
        width -= done;
    }
    if (from.is_direct && (across == from.size || width == 1)) {
        joint.take(states, at, job.step / from.size * parts, n, width * parts, lens);
        return;
    }
    alignas(ep::LINE) char block[GROUP * ABREAST * WIDEST];
    if (width == 1) {  // one row's elements come in one call
        constexpr int64_t most = std::min(ep::BLOCK, GROUP * ABREAST) / GROUP * GROUP;
        for (int64_t i = 0, m; i < n; i += m) {
            m = std::min(most, n - i);
            joint.take(states, from.load(at + i * job.step, job.step, m, block), parts, m, parts, lens);
        }
        return;
    }
    // Places of few rows that are neighbours come in one call.
    const bool is_dense = across == from.size && job.step == width * across;
    const int64_t most = is_dense ? std::max<int64_t>(1, ABREAST / width) * GROUP : GROUP;
    for (int64_t i = 0, m; i < n; i += m) {
        m = std::min(most, n - i);
        char* to = block;
        const int64_t lines = is_dense ? 1 : m, length = m / lines * width;
        for (int64_t k = 0; k < lines; ++k) {
            const char* const line = at + (i + k) * job.step;
            for (int64_t j = 0, some; j < length; j += some, to += some * from.staged_size) {
                some = std::min(ep::BLOCK, length - j);
                from.load(line + j * across, across, some, to);
            }
        }
        joint.take(states, block, width * parts, m, width * parts, lens);
    }
}

// n short rows that are `across` bytes apart.
void take_short(const Job& job, const char* at, int64_t across, int64_t n, const ep::Lens& lens, char* states) {
    const ep_storage& from = job.from;
    const ep::Joint& joint = *job.r.joint;
    const int64_t parts = job.r.parts, length = job.run * parts;
    if (from.is_direct) {
        joint.rows(states, at, across / from.size * parts, n, length, parts, lens);
        return;
    }
    alignas(ep::LINE) char block[ep::BLOCK * WIDEST];
    const int64_t most = across == job.run * from.size ? ep::BLOCK / job.run : 1;
    for (int64_t i = 0, m; i < n; i += m) {
        m = std::min(most, n - i);
        const void* const x = from.load(at + i * across, from.size, m * job.run, block);
        joint.rows(states + i * job.size, x, length, m, length, parts, lens);
    }
}

// One chunk of `width` rows, 1 where lanes run along it.
void join_chunk(const Job& job, const char* at, int64_t across, int64_t width, int64_t chunk, const ep::Lens& lens,
                char* states) {
    const ep::Joint& joint = *job.r.joint;
    const int64_t parts = job.r.parts;
    const auto take = [&](const char* from, int64_t n, char* into) {
        if (job.is_along)
            take_along(job, from, n, lens, into);
        else
            take_across(job, from, across, width, n, lens, into);
    };
    const int64_t most = DEPTH * GROUP * job.unit(), begin = chunk % job.pieces * most;
    const int64_t length = std::min(most, job.run - begin);
    if (job.r.folds != nullptr && job.is_along && job.runs == 1) {
        const ep::Runs runs(job.g, chunk / job.pieces);
        job.r.folds(states, at + runs.at() + begin * job.step, 0, 1, length, lens, job.is_far);
        return;
    }
    const auto take_all = [&](char* into) {
        if (job.pieces > 1) {
            const ep::Runs runs(job.g, chunk / job.pieces);
            take(at + runs.at() + begin * job.step, length, into);
        } else {
            const int64_t first = chunk * job.runs, end = std::min(first + job.runs, job.g.terms / job.run);
            ep::Runs runs(job.g, first);
            for (int64_t i = first; i < end; ++i, runs.next()) take(at + runs.at(), job.run, into);
        }
    };
    if (job.is_along) {
        alignas(ep::LINE) char lanes[LANES * WIDEST];
        joint.start(lanes, LANES * parts);
        take_all(lanes);
        joint.fold(lanes, LANES * parts, parts);
        std::memcpy(states, lanes, static_cast<size_t>(job.size));
    } else {
        joint.start(states, width * parts);
        take_all(states);
    }
}

// Join leaf(i, states) for 0 <= i < count pairwise: `width` rows' states each.
template <class Leaf>
void pairwise(const Job& job, int64_t count, int64_t width, char* states, Leaf leaf) {
    const int64_t nbytes = width * job.size;
    if (count == 1) return leaf(0, states);
    alignas(ep::LINE) char stack[ROOM];
    char* top = stack;
    const auto join = [&] {
        top -= nbytes;
        job.r.joint->merge(top - nbytes, top, width * job.r.parts);
    };
    for (int64_t i = 0; i < count; ++i) {
        leaf(i, top);
        top += nbytes;
        for (int64_t bits = i; (bits & 1) != 0; bits >>= 1) join();
    }
    while (top - stack > nbytes) join();
    std::memcpy(states, stack, static_cast<size_t>(nbytes));
}

// How many rows may go through the tree together, and through `chunks` chunks of it: whole lines of them.
int64_t widest(const Job& job) {
    return job.r.stored == nullptr ? ABREAST : ABREAST * WIDEST / job.size;
}
int64_t widest(const Job& job, int64_t chunks) {
    return std::min(widest(job), ROOM / (job.size * bit_length(chunks)) / ep::LINE * ep::LINE);
}

// The elements of a chunk of a row that is one run.
constexpr int64_t OF_CHUNK = DEPTH * GROUP * LANES;

// Chunks [begin, end) of a row that is one run.
void fold_row(const Job& job, const char* row, int64_t begin, int64_t end, const ep::Lens& lens, char* state) {
    const auto fold = [&](int64_t chunk, char* into) {
        const int64_t first = (begin + chunk) * OF_CHUNK;
        job.r.folds(into, row + first * job.step, 0, 1, std::min(OF_CHUNK, job.run - first), lens, job.is_far);
    };
    const int64_t half = (end - begin) / 2;
    const bool has_halves =
        half != 0 && (half & (half - 1)) == 0 && end - begin == 2 * half && end * OF_CHUNK <= job.run;
    if (!job.is_far || job.r.folds_two == nullptr || !has_halves) return pairwise(job, end - begin, 1, state, fold);
    // The tree over a power of two joins the trees over its halves, which are read side by side.
    alignas(ep::LINE) char halves[2 * WIDEST];
    pairwise(job, half, 2, halves, [&](int64_t chunk, char* into) {
        const int64_t first = (begin + chunk) * OF_CHUNK;
        job.r.folds_two(into, row + first * job.step, half * OF_CHUNK * job.step, OF_CHUNK, lens);
    });
    job.r.joint->merge(halves, halves + job.size, job.r.parts);
    std::memcpy(state, halves, static_cast<size_t>(job.size));
}

// The same chunks of two rows, `across` bytes apart.
void fold_two_rows(const Job& job, const char* rows, int64_t across, int64_t begin, int64_t end, const ep::Lens& lens,
                   char* states) {
    pairwise(job, end - begin, 2, states, [&](int64_t chunk, char* into) {
        const int64_t first = (begin + chunk) * OF_CHUNK, length = std::min(OF_CHUNK, job.run - first);
        job.r.folds_two(into, rows + first * job.step, across, length, lens);
    });
}

// Chunks [begin, end) of n rows from the place x on.
void join_rows(const Job& job, const char* x, int64_t n, int64_t begin, int64_t end, const ep::Lens& lens,
               char* states) {
    const int64_t across = job.g.kept_stride[EP_X][job.g.kept - 1];
    if (job.is_short) return take_short(job, x, across, n, lens, states);
    if (job.is_along && job.g.ndim == 1 && job.r.folds != nullptr) {
        const bool by_two = job.is_far && job.r.folds_two != nullptr;
        int64_t i = 0;
        for (; by_two && i + 2 <= n; i += 2)
            fold_two_rows(job, x + i * across, across, begin, end, lens, states + i * job.size);
        if (job.run <= OF_CHUNK)
            return job.r.folds(states + i * job.size, x + i * across, across, n - i, job.run, lens, job.is_far);
        for (; i < n; ++i) fold_row(job, x + i * across, begin, end, lens, states + i * job.size);
        return;
    }
    if (job.is_along) {
        for (int64_t i = 0; i < n; ++i) {
            pairwise(job, end - begin, 1, states + i * job.size,
                     [&](int64_t c, char* into) { join_chunk(job, x + i * across, 0, 1, begin + c, lens, into); });
        }
        return;
    }
    const int64_t most = widest(job, end - begin);
    for (int64_t i = 0, m; i < n; i += m) {
        m = std::min(most, n - i);
        pairwise(job, end - begin, m, states + i * job.size,
                 [&](int64_t c, char* into) { join_chunk(job, x + i * across, across, m, begin + c, lens, into); });
    }
}

// The results of n rows, from their states to their places.
void deliver(const Job& job, const char* states, char* out, int64_t n) {
    const ep_storage& to = job.to;
    const int64_t step = job.g.kept_stride[EP_REDUCED][job.g.kept - 1];
    alignas(ep::LINE) char results[ep::BLOCK * WIDEST];
    for (int64_t i = 0, m; i < n; i += m) {
        m = std::min(ep::BLOCK, n - i);
        job.r.finish(states + i * job.size, results, m, static_cast<double>(job.g.terms), job.r.lens);
        to.store(results, out + i * step, step, m, false);
    }
}

// Sums of squares of n rows become roots. Where a sum is too great or too small for squares to have been exact,
// again(lens, states) sums scaled ones.
template <class Again>
void take_roots(const Job& job, char* states, int64_t n, Again again) {
    constexpr double least = 0x1p-900, most = 0x1p1000, scale = 0x1p600;
    const int64_t parts = job.r.parts;
    const auto sum = [parts](const char* from, int64_t i) {
        const auto* const squares = reinterpret_cast<const double*>(from) + parts * i;
        return parts == 2 ? squares[0] + squares[1] : squares[0];
    };
    bool is_small = false, is_large = false;
    for (int64_t i = 0; i < n; ++i) {
        is_small |= sum(states, i) < least;
        is_large |= sum(states, i) > most;
    }
    alignas(ep::LINE) char small[ROOM / 2], large[ROOM / 2];
    ep::Lens lens = job.r.lens;
    lens.scale = scale;
    if (is_small) again(lens, small);
    lens.scale = 1 / scale;
    if (is_large) again(lens, large);
    auto* const roots = reinterpret_cast<double*>(states);
    if (parts == 1 && !is_small && !is_large) {
        for (int64_t i = 0; i < n; ++i) roots[i] = std::sqrt(roots[i]);
        return;
    }
    for (int64_t i = 0; i < n; ++i) {
        const double plain = sum(states, i);
        roots[parts * i] = plain < least  ? std::sqrt(sum(small, i)) / scale
                           : plain > most ? std::sqrt(sum(large, i)) * scale
                                          : std::sqrt(plain);
    }
}

#include "windows.h"

// Rows [begin, end), each to its end.
void reduce_rows(const Job& job, int64_t begin, int64_t end) {
    if (job.slides) return slide_windows(job, begin, end);
    if (job.is_window) return reduce_windows(job, begin, end);
    alignas(ep::LINE) char states[ABREAST * WIDEST];
    ep::each_block(job.g, begin, end, widest(job), [&](int64_t x, int64_t out, int64_t, int64_t n) {
        const auto join = [&](const ep::Lens& lens, char* into) {
            join_rows(job, job.x + x, n, 0, job.chunks, lens, into);
        };
        join(job.r.lens, states);
        if (job.r.has_scaled_root) take_roots(job, states, n, join);
        deliver(job, states, job.out + out, n);
    });
}

struct ByRows {
    const Job& job;
    int parts;
};
void reduce_part_of_rows(void* context, int part) {
    const auto& by = *static_cast<const ByRows*>(context);
    const int64_t rows = by.job.g.outputs;
    reduce_rows(by.job, rows * part / by.parts, rows * (part + 1) / by.parts);
}

struct ByChunks {
    const Job& job;
    const ep::Lens& lens;
    int64_t span;
    char* states;
};
void reduce_part_of_chunks(void* context, int part) {
    const auto& by = *static_cast<const ByChunks*>(context);
    const int64_t rows = by.job.g.outputs, begin = part * by.span, end = std::min(begin + by.span, by.job.chunks);
    char* const states = by.states + part * rows * by.job.size;
    ep::each_block(by.job.g, 0, rows, rows, [&](int64_t x, int64_t, int64_t first, int64_t n) {
        join_rows(by.job, by.job.x + x, n, begin, end, by.lens, states + first * by.job.size);
    });
}

// All rows by `count` parts of `span` chunks, which is a power of two.
void reduce_by_chunks(const Job& job, int count, int64_t span) {
    alignas(ep::LINE) char parts[ROOM / 2], states[ROOM / 2];
    const int64_t rows = job.g.outputs, nbytes = rows * job.size;
    const auto join = [&](const ep::Lens& lens, char* into) {
        ByChunks by = {job, lens, span, parts};
        ep::parallel(count, reduce_part_of_chunks, &by);
        pairwise(job, count, rows, into, [&](int64_t part, char* leaf) {
            std::memcpy(leaf, parts + part * nbytes, static_cast<size_t>(nbytes));
        });
    };
    join(job.r.lens, states);
    if (job.r.has_scaled_root) take_roots(job, states, rows, join);
    ep::each_block(job.g, 0, rows, rows, [&](int64_t, int64_t out, int64_t first, int64_t n) {
        deliver(job, states + first * job.size, job.out + out, n);
    });
}

// Rows of nothing.
void reduce_nothing(const Job& job) {
    alignas(ep::LINE) char states[ep::BLOCK * WIDEST];
    job.r.joint->start(states, ep::BLOCK);
    if (job.r.is_zero_of_nothing) std::memset(states, 0, sizeof states);
    ep::each_block(job.g, 0, job.g.outputs, ep::BLOCK / 2,
                   [&](int64_t, int64_t out, int64_t, int64_t n) { deliver(job, states, job.out + out, n); });
}

// Rows side by side that are worth a thread.
constexpr int64_t LEAST_ROWS = 64;

int reduce_all(const Job& job) {
    ep::count_call();
    const ep_reduce_plan& g = job.g;
    if (g.terms == 0) {
        reduce_nothing(job);
        return 0;
    }
    const int wanted = ep::parts(g.traffic * job.r.cost);
    if (wanted <= 1) {
        reduce_rows(job, 0, g.outputs);
        return 0;
    }
    const int64_t by_rows = std::min<int64_t>(wanted, g.outputs / (job.is_along ? 1 : LEAST_ROWS));
    int64_t by_chunks = std::min(std::min<int64_t>(wanted, job.chunks), ROOM / 2 / (g.outputs * job.size));
    if (by_rows < wanted && by_chunks > by_rows) {
        int64_t span = 1;
        while (span * by_chunks < job.chunks) span *= 2;
        by_chunks = ceil_div(job.chunks, span);
        reduce_by_chunks(job, static_cast<int>(by_chunks), span);
    } else {
        ByRows by = {job, static_cast<int>(std::max<int64_t>(1, by_rows))};
        ep::parallel(by.parts, reduce_part_of_rows, &by);
    }
    return 0;
}

}  // namespace

int ep::reduce(const void* packed) {
    return reduce_all(Job(packed));
}
