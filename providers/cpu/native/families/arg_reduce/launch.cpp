// ArgReduce: the best element of a row does not depend on the order of the comparisons, so threads may share any work.
#include <algorithm>

#include "runtime/count.h"
#include "runtime/pool.h"
#include "seeker.h"
#include "types/storage.h"

namespace {

constexpr int64_t LEAST_RUN = 32;
// Elements of a run that threads take whole.
constexpr int64_t PIECE = 8192;
// Rows side by side: fewer are taken one by one, along lanes; more are taken together.
constexpr int64_t LEAST_ABREAST = 8, ABREAST = 512;
// Bytes of the widest element; rows of a block that strided elements are staged in, and its lanes.
constexpr int64_t WIDEST = 8, STAGED_ROWS = 32, STAGED_LANES = 128;

// One launch; each run is cut into `pieces`, of which a row has `total`.
struct Job {
    const ep_reduce_plan& g;
    const ep::Seeker& s;
    const ep_storage& from;
    const char* x;
    char* out;
    int64_t run, step, weight, most, pieces, total;
    bool is_along;

    explicit Job(const void* packed)
        : g(ep::plan_of<ep_reduce_plan>(packed)),
          s(*static_cast<const ep::Seeker*>(g.row->code)),
          from(*g.row->from),
          x(ep::place_of(packed, EP_X, g.offset[EP_X])),
          out(ep::place_of(packed, EP_REDUCED, g.offset[EP_REDUCED])),
          run(g.extent[g.ndim - 1]),
          step(g.stride[g.ndim - 1]),
          weight(g.place[g.ndim - 1]),
          is_along(run >= LEAST_RUN && (step == from.size || g.kept_extent[g.kept - 1] < LEAST_ABREAST)) {
        most = is_along ? PIECE : ep::SOUGHT;
        pieces = (run + most - 1) / most;
        total = g.terms / run * pieces;
    }

    bool is_dense() const { return from.is_direct && step == from.size; }
    int64_t across() const { return g.kept_stride[EP_X][g.kept - 1]; }
};

// The best so far, of rows side by side.
struct Best {
    alignas(ep::LINE) char element[ABREAST * WIDEST];
    int64_t place[ABREAST];
};

// The same of some elements that are looked at together.
struct Found {
    alignas(ep::LINE) char element[ABREAST * WIDEST];
    alignas(ep::LINE) char row[ABREAST * WIDEST];
};

// n elements of a row, from number `place` on.
void seek_along(const Job& job, const char* at, int64_t n, int64_t place, Best& best) {
    const int64_t most = job.is_dense() ? n : ep::BLOCK;
    alignas(ep::LINE) char block[ep::BLOCK * WIDEST];
    Found found;
    for (int64_t i = 0, m; i < n; i += m) {
        m = std::min(most, n - i);
        const auto* const x = static_cast<const char*>(job.from.load(at + i * job.step, job.step, m, block));
        const int64_t first = job.s.seek_row(x, m, job.s.lens);
        job.s.seek(found.element, found.row, x + first * job.from.staged_size, 0, 1, 1, job.s.lens);
        job.s.adopt(best.element, best.place, found.element, found.row, place + (i + first) * job.weight, 0, 0, 1);
    }
}

// n elements each of `width` rows.
void seek_across(const Job& job, const char* at, int64_t width, int64_t n, int64_t place, Best& best) {
    const ep_storage& from = job.from;
    Found found;
    if (from.is_direct && job.across() == from.size) {
        job.s.seek(found.element, found.row, at, job.step / from.size, n, width, job.s.lens);
        job.s.adopt(best.element, best.place, found.element, found.row, place, job.weight, 0, width);
        return;
    }
    alignas(ep::LINE) char block[STAGED_ROWS * STAGED_LANES * WIDEST];
    for (int64_t i = 0, m; i < n; i += m) {
        m = std::min(STAGED_ROWS, n - i);
        for (int64_t k = 0; k < m; ++k) {
            char* const row = block + k * width * from.staged_size;
            const void* const there = from.load(at + (i + k) * job.step, job.across(), width, row);
            if (there != row) std::memcpy(row, there, static_cast<size_t>(width * from.staged_size));
        }
        job.s.seek(found.element, found.row, block, width, m, width, job.s.lens);
        job.s.adopt(best.element, best.place, found.element, found.row, place + i * job.weight, job.weight, 0, width);
    }
}

// Pieces [begin, end) of `width` rows, 1 where vectors run along it; the best of row i stands at place i.
void seek_pieces(const Job& job, const char* at, int64_t width, int64_t begin, int64_t end, Best& best) {
    job.s.start(best.element, best.place, width);
    ep::Runs runs(job.g, begin / job.pieces);
    for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t first = piece % job.pieces * job.most, n = std::min(job.most, job.run - first);
        const int64_t place = runs.place() + first * job.weight;
        const char* const from = at + runs.at() + first * job.step;
        if (job.is_along)
            seek_along(job, from, n, place, best);
        else
            seek_across(job, from, width, n, place, best);
        if ((piece + 1) % job.pieces == 0) runs.next();
    }
}

// Visit the best of pieces [begin, end) of rows [first, last): visit(best, out, row, n).
template <class Visit>
void each_best(const Job& job, int64_t first, int64_t last, int64_t begin, int64_t end, Visit visit) {
    const bool is_staged = !job.from.is_direct || job.across() != job.from.size;
    const int64_t most = job.is_along ? 1 : is_staged ? STAGED_LANES : ABREAST;
    Best best;
    ep::each_block(job.g, first, last, most, [&](int64_t x, int64_t out, int64_t row, int64_t n) {
        seek_pieces(job, job.x + x, n, begin, end, best);
        visit(best, job.out + out, row, n);
    });
}

void deliver(const Job& job, const int64_t* places, char* out, int64_t n) {
    const int64_t step = job.g.kept_stride[EP_REDUCED][job.g.kept - 1];
    for (int64_t i = 0; i < n; ++i, out += step) {
        if (job.g.row->to->size == int64_t{sizeof(int32_t)}) {
            const auto place = static_cast<int32_t>(places[i]);
            std::memcpy(out, &place, sizeof place);
        } else {
            std::memcpy(out, &places[i], sizeof *places);
        }
    }
}

// Rows that lie as they are compared, or fit a block, each by itself.
void reduce_whole_rows(const Job& job, int64_t first, int64_t last) {
    alignas(ep::LINE) char block[ep::BLOCK * WIDEST];
    int64_t places[ep::BLOCK];
    ep::each_block(job.g, first, last, ep::BLOCK, [&](int64_t x, int64_t out, int64_t, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
            const char* const at = job.x + x + i * job.across();
            places[i] = job.weight * job.s.seek_row(job.from.load(at, job.step, job.run, block), job.run, job.s.lens);
        }
        deliver(job, places, job.out + out, n);
    });
}

void reduce_rows(const Job& job, int64_t first, int64_t last) {
    if (job.is_along && job.g.ndim == 1 && (job.is_dense() || job.run <= ep::BLOCK))
        return reduce_whole_rows(job, first, last);
    each_best(job, first, last, 0, job.total,
              [&](const Best& best, char* out, int64_t, int64_t n) { deliver(job, best.place, out, n); });
}

struct ByRows {
    const Job& job;
    int parts;
};
void reduce_part_of_rows(void* context, int part) {
    const auto& by = *static_cast<const ByRows*>(context);
    reduce_rows(by.job, by.job.g.outputs * part / by.parts, by.job.g.outputs * (part + 1) / by.parts);
}

// The best of each row in each of `parts` ranges of its pieces.
constexpr int64_t ROOM = 2048;
struct ByPieces {
    const Job& job;
    int parts;
    alignas(ep::LINE) char element[ROOM * WIDEST];
    int64_t place[ROOM];
};
void seek_part_of_pieces(void* context, int part) {
    auto& by = *static_cast<ByPieces*>(context);
    const Job& job = by.job;
    const int64_t rows = job.g.outputs, size = job.from.staged_size;
    each_best(job, 0, rows, job.total * part / by.parts, job.total * (part + 1) / by.parts,
              [&](const Best& best, char*, int64_t row, int64_t n) {
                  std::memcpy(by.element + (part * rows + row) * size, best.element, static_cast<size_t>(n * size));
                  std::memcpy(by.place + part * rows + row, best.place, static_cast<size_t>(n) * sizeof *best.place);
              });
}
void reduce_by_pieces(const Job& job, int parts) {
    ByPieces by = {job, parts, {}, {}};
    ep::parallel(parts, seek_part_of_pieces, &by);
    const int64_t rows = job.g.outputs;
    for (int part = 1; part < parts; ++part)
        job.s.merge(by.element, by.place, by.element + part * rows * job.from.staged_size, by.place + part * rows,
                    rows);
    ep::each_block(job.g, 0, rows, rows, [&](int64_t, int64_t out, int64_t row, int64_t n) {
        deliver(job, by.place + row, job.out + out, n);
    });
}

// Rows side by side that are worth a thread.
constexpr int64_t LEAST_ROWS = 64;
// A comparison costs more than a byte of memory does.
constexpr int64_t COST = 2;

int reduce(const Job& job) {
    ep::count_call();
    const int64_t rows = job.g.outputs;
    const int wanted = ep::parts(COST * job.g.traffic);
    const int64_t by_rows = std::min<int64_t>(wanted, rows / (job.is_along ? 1 : LEAST_ROWS));
    const int64_t by_pieces = std::min(std::min<int64_t>(wanted, job.total), ROOM / rows);
    if (wanted > 1 && by_rows < wanted && by_pieces > by_rows) {
        reduce_by_pieces(job, static_cast<int>(by_pieces));
    } else if (by_rows > 1) {
        ByRows by = {job, static_cast<int>(by_rows)};
        ep::parallel(by.parts, reduce_part_of_rows, &by);
    } else {
        reduce_rows(job, 0, rows);
    }
    return 0;
}

}  // namespace

int ep::arg_reduce(const void* packed) {
    return reduce(Job(packed));
}
