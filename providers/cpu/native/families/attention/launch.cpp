// The launch of Attention: blocks of queries shared among threads, each with scratch of its own. A block meets the keys
// by blocks that stay in the caches, and its sums so far are rescaled where a later key has a larger score. Its queries
// are gone through by strips, so that scores never leave the first cache.
#include <algorithm>
#include <atomic>
#include <numeric>

#include "attention.h"
#include "families/elementwise/elementwise.h"
#include "families/matmul/tiles.h"
#include "runtime/count.h"
#include "runtime/pool.h"

namespace {

using ep::ceil_div;

// Bytes of the panels of a block of keys, and of values, and of the queries of a block and their sums: half of a
// core's second cache. Keys at most, and at least: as many, or a multiple of it and of the rows of a panel.
constexpr int64_t KEY_BYTES = 128 << 10, QUERY_BYTES = 128 << 10;
constexpr int64_t MOST_KEYS = 192, KEYS = 48, MOST_QUERIES = 256;

// Products below which another thread is not worth waking.
constexpr double GRAIN = 1 << 20;

constexpr int64_t round_up(int64_t a, int64_t b) {
    return ceil_div(a, b) * b;
}

// How a thread's scratch is laid out: the place of each part, in bytes.
struct Room {
    int64_t queries, keys;
    int64_t q, k, v, staged_v, scores, shares, rows, mask, sums, most, sum, factor, results, nbytes;

    Room(const ep_attention_plan& g, const ep::Tile& first, const ep::Tile& second, const ep::Tile* staging) {
        const int64_t size = second.sum, width = second.columns, elements = g.depth + g.columns;
        const int64_t whole = std::lcm(KEYS, int64_t{first.rows});
        keys = std::min(std::max(KEY_BYTES / (elements * size) / whole * whole, whole), MOST_KEYS);
        queries = std::min(round_up(std::min(std::max(QUERY_BYTES / (elements * size), width), MOST_QUERIES), width),
                           round_up(g.queries, width));
        const int64_t steps = first.steps(g.depth) * first.lane;
        nbytes = 0;
        const auto place = [&](int64_t part) {
            const int64_t at = nbytes;
            nbytes += round_up(part, ep::LINE);
            return at;
        };
        q = place(queries * steps);
        k = place(keys * steps);
        v = place(round_up(g.columns, second.rows) * keys * size);
        const int64_t staged = staging == nullptr ? 0 : staging->steps(keys);
        staged_v = place(staging == nullptr ? 0 : round_up(g.columns, staging->rows) * staged * staging->lane);
        scores = place(keys * width * size);
        shares = place(staging == nullptr ? 0 : staged * staging->staged);
        rows = place(g.place[EP_ATTENTION_MASK] < 0 ? 0 : keys * width * size);
        mask = place(g.place[EP_ATTENTION_MASK] < 0 ? 0 : keys * width * size);
        sums = place(queries * rows_of_sums(g, second, staging) * size);
        most = place(queries * size);
        sum = place(queries * size);
        factor = place(width * size);
        results = place(width * g.columns * size);
    }

    // Rows of sums that panels of values end in.
    static int64_t rows_of_sums(const ep_attention_plan& g, const ep::Tile& second, const ep::Tile* staging) {
        const int64_t rows = round_up(g.columns, second.rows);
        return staging == nullptr ? rows : std::max(rows, round_up(g.columns, staging->rows));
    }
};

struct Job {
    const ep_attention_plan& g;
    const ep::Tile &first, &second;
    const ep::Tile* const staging;
    const ep::Strips& strips;
    const Room room;
    char* at[EP_ATTENTION_PLACES];
    char* scratch;
    // Queries of a block, blocks of a batch, and all blocks.
    int64_t queries = 0, across = 0, blocks = 0;
    std::atomic<int64_t> next{0};
};

// One block of queries of one batch.
class Block {
   public:
    Block(const Job& job, int64_t batch, int64_t first, char* scratch)
        : g_(job.g),
          first_(job.first),
          second_(job.second),
          staging_(job.staging),
          loops_(job.strips),
          room_(job.room),
          scratch_(scratch),
          query_(first),
          count_(std::min(job.queries, g_.queries - first)),
          width_(second_.columns),
          strips_(ceil_div(count_, width_)) {
        for (int k = 0; k < EP_ATTENTION_PLACES; ++k) at_[k] = place(job.at[k], k, batch);
    }

    void run() {
        const int64_t met =
            g_.is_causal ? std::min(std::max<int64_t>(query_ + count_ + g_.ahead, 0), g_.keys) : g_.keys;
        first_.pack_right(rows(EP_ATTENTION_Q, query_, count_), scratch_ + room_.q);
        std::memset(scratch_ + room_.sums, 0, bytes(strips_ * sums_of_strip()));
        std::memset(scratch_ + room_.sum, 0, bytes(strips_ * width_));
        static constexpr char NO_KEY = 0;
        loops_.choose(&NO_KEY, 0, strips_ * width_, scratch_ + room_.most);
        for (int64_t key = 0; key < met; key += room_.keys) {
            const int64_t keys = std::min(room_.keys, met - key);
            first_.pack_left(rows(EP_ATTENTION_K, key, keys), scratch_ + room_.k);
            bring_values(key, keys);
            meet(key, keys);
        }
        finish();
    }

   private:
    char* place(char* at, int operand, int64_t batch) const {
        for (int d = g_.ndim - 1; d >= 0 && at != nullptr; --d) {
            at += batch % g_.extent[d] * g_.stride[operand][d];
            batch /= g_.extent[d];
        }
        return at;
    }
    char* row(int operand, int64_t i) const { return at_[operand] + i * g_.line[operand]; }
    ep::Factor rows(int operand, int64_t i, int64_t count) const {
        return {first_.storage, row(operand, i), g_.line[operand], g_.step[operand], count, g_.depth, false};
    }
    // How many numbers a strip has sums of, and the bytes of so many.
    int64_t sums_of_strip() const { return Room::rows_of_sums(g_, second_, staging_) * width_; }
    size_t bytes(int64_t numbers) const { return static_cast<size_t>(numbers * second_.sum); }
    // Lanes of a row of a panel of queries, or of keys.
    int64_t lanes() const { return first_.steps(g_.depth); }
    bool has_mask() const { return at_[EP_ATTENTION_MASK] != nullptr; }

    // The values of a block of keys, as they are multiplied with shares that are staged, or with scores.
    void bring_values(int64_t key, int64_t keys) {
        ep::Factor values = {second_.storage,
                             row(EP_ATTENTION_V, key),
                             g_.step[EP_ATTENTION_V],
                             g_.line[EP_ATTENTION_V],
                             g_.columns,
                             keys,
                             false};
        is_staged_ = false;
        if (staging_ != nullptr) {
            values.storage = staging_->storage;
            staging_->pack_left(values, scratch_ + room_.staged_v);
            least_ = staging_->least(scratch_ + room_.staged_v,
                                     round_up(g_.columns, staging_->rows) * staging_->steps(keys));
            is_staged_ = least_ >= 0;
        }
        values.storage = second_.storage;
        if (!is_staged_) second_.pack_left(values, scratch_ + room_.v);
    }

    // All strips meet a block of keys, as far as they do.
    void meet(int64_t key, int64_t keys) {
        const bool agrees = first_.least == nullptr ||
                            first_.agrees(first_.least(scratch_ + room_.k, round_up(keys, first_.rows) * lanes()),
                                          first_.least(scratch_ + room_.q, strips_ * width_ * lanes()));
        const ep::Tile& tile = agrees ? first_ : *first_.otherwise;
        const bool shares_mask = g_.line[EP_ATTENTION_MASK] == 0;
        if (has_mask() && shares_mask) load_mask(0, width_, key, keys);
        for (int64_t strip = 0; strip < strips_; ++strip) {
            const int64_t query = query_ + strip * width_, last = g_.is_causal ? query + g_.ahead - key : keys;
            const int64_t seen = std::min(keys, last + width_);
            if (seen <= 0) continue;
            score(tile, strip, seen, keys);
            if (has_mask() && !shares_mask) load_mask(query, std::min(width_, g_.queries - query), key, seen);
            weigh(strip, last, seen, keys);
        }
    }

    // The scores of a strip: of the first `seen` of `keys` keys, or a few more. All that comes next is near.
    void score(const ep::Tile& tile, int64_t strip, int64_t seen, int64_t keys) {
        for (int64_t i = 0; i < seen; i += tile.rows)
            tile.multiply(scratch_ + room_.k + i * lanes() * tile.lane,
                          scratch_ + room_.q + strip * width_ * lanes() * tile.lane, lanes(),
                          scratch_ + room_.scores + i * width_ * tile.sum, width_,
                          static_cast<int>(std::min<int64_t>(tile.rows, keys - i)), false, scratch_);
    }

    // The scores of a strip become shares, by which the values are multiplied: `seen` of `keys` rows of them.
    void weigh(int64_t strip, int64_t last, int64_t seen, int64_t keys) {
        char *const scores = scratch_ + room_.scores, *const factor = scratch_ + room_.factor,
                    *const sums = scratch_ + room_.sums + bytes(strip * sums_of_strip());
        if (g_.tanh != nullptr) {
            static constexpr double NONE[EP_ATTRIBUTES] = {};
            loops_.multiply(scores, seen, g_.scale / g_.cap);
            g_.tanh->body(scores, nullptr, scores, seen * width_, NONE, -1);
        }
        const size_t own = bytes(strip * width_);
        const bool grew = loops_.share({scores, seen, g_.tanh == nullptr ? g_.scale : g_.cap,
                                        has_mask() ? scratch_ + room_.mask : nullptr, last, scratch_ + room_.most + own,
                                        scratch_ + room_.sum + own, factor});
        if (grew) loops_.rescale(sums, g_.columns, factor);
        if (!is_staged_) return add_values(second_, scratch_ + room_.v, scores, keys, seen, sums);
        char* const shares = scratch_ + room_.shares;
        const int64_t steps = staging_->steps(keys);
        const int least = staging_->stage(scores, seen, steps, shares);
        const bool agrees = staging_->takes(sums, g_.columns * width_) && staging_->agrees(least_, least);
        add_values(agrees ? *staging_ : *staging_->otherwise, scratch_ + room_.staged_v, shares, steps, steps, sums);
    }

    // Shares of `steps` keys, or of lanes of these, times values, whose panels have `all`.
    void add_values(const ep::Tile& tile, const char* values, const char* shares, int64_t all, int64_t steps,
                    char* sums) const {
        for (int64_t e = 0; e < g_.columns; e += tile.rows)
            tile.multiply(values + e * all * tile.lane, shares, steps, sums + bytes(e * width_), width_,
                          static_cast<int>(std::min<int64_t>(tile.rows, g_.columns - e)), true, shares);
    }

    // The mask of so many queries and keys, turned as the scores are.
    void load_mask(int64_t query, int64_t queries, int64_t key, int64_t keys) {
        const int64_t line = g_.line[EP_ATTENTION_MASK], step = g_.step[EP_ATTENTION_MASK], size = second_.sum;
        for (int64_t i = 0; i < (line == 0 ? 1 : queries); ++i) {
            const char* const from = row(EP_ATTENTION_MASK, query + i) + key * step;
            char* const to = scratch_ + room_.rows + i * room_.keys * size;
            if (g_.is_of_bools) {
                loops_.choose(from, step, keys, to);
                continue;
            }
            const void* const given = g_.row->from->load(from, step, keys, to);
            if (given != to) std::memcpy(to, given, bytes(keys));
        }
        const ep_storage* const made = g_.product->to;
        second_.pack_right({made, scratch_ + room_.rows, line == 0 ? 0 : room_.keys * size, size, queries, keys, false},
                           scratch_ + room_.mask);
    }

    void finish() {
        char* const results = scratch_ + room_.results;
        for (int64_t i = 0; i < count_; ++i) {
            const int64_t strip = i / width_, inside = i % width_;
            if (inside == 0)
                loops_.finish(scratch_ + room_.sums + bytes(strip * sums_of_strip()), g_.columns,
                              scratch_ + room_.sum + bytes(strip * width_), results);
            g_.row->to->store(results + bytes(inside * g_.columns), row(EP_ATTENTION_OUT, query_ + i),
                              g_.step[EP_ATTENTION_OUT], g_.columns, false);
        }
    }

    const ep_attention_plan& g_;
    const ep::Tile &first_, &second_;
    const ep::Tile* const staging_;
    const ep::Strips& loops_;
    const Room& room_;
    char* const scratch_;
    const int64_t query_, count_, width_, strips_;
    char* at_[EP_ATTENTION_PLACES];
    // Whether the values of the block of keys meet shares that are staged, and how small they are then.
    bool is_staged_ = false;
    int least_ = 0;
};

// The last queries of a batch meet most keys if they are causal, and begin.
void attend(void* context, int part) {
    Job& job = *static_cast<Job*>(context);
    const ep::Multiplying multiplying(job.first);
    for (int64_t i; (i = job.next++) < job.blocks;) {
        const int64_t row = (job.across - 1 - i % job.across) * job.queries;
        Block(job, i / job.across, row, job.scratch + part * job.g.room).run();
    }
}

const ep::Tile& tile_of(const ep_attention_plan& g) {
    return static_cast<const ep::Tile*>(g.product->code)->best();
}
const ep::Tile& single(const ep::Tile& tile) {
    return tile.single == nullptr ? tile : *tile.single;
}

}  // namespace

extern "C" int64_t ep_attention_scratch(ep_attention_plan* plan) {
    const ep::Tile& first = tile_of(*plan);
    plan->parts = ep::threads();
    plan->room = Room(*plan, first, single(first), first.staging).nbytes;
    return plan->parts * plan->room;
}

int ep::attention(const void* packed) {
    const auto& g = plan_of<ep_attention_plan>(packed);
    ep::count_call();
    const ep::Tile &first = tile_of(g), &second = single(first);
    const auto& strips = *static_cast<const ep::Strips*>(g.row->code);
    Job job = {g, first, second, first.staging, strips, Room(g, first, second, first.staging), {}, nullptr};
    for (int k = 0; k < EP_ATTENTION_PLACES; ++k)
        job.at[k] = g.place[k] < 0 ? nullptr : place_of(packed, g.place[k], g.offset[k]);
    job.scratch = place_of(packed, g.place[EP_ATTENTION_SCRATCH], 0);
    int64_t batches = 1;
    for (int d = 0; d < g.ndim; ++d) batches *= g.extent[d];
    // Blocks as large as they may be, but smaller while threads would be without one; a value does not depend on them.
    const int64_t wanted = g.parts == 1 ? 1 : 4 * g.parts, width = second.columns;
    job.queries = std::min(job.room.queries, round_up(ceil_div(g.queries, ceil_div(wanted, batches)), width));
    job.across = ceil_div(g.queries, job.queries);
    job.blocks = batches * job.across;
    const double products = static_cast<double>(batches) * static_cast<double>(g.queries) *
                            static_cast<double>(g.keys) * static_cast<double>(g.depth + g.columns);
    const int64_t parts = products < GRAIN ? 1 : std::min<int64_t>(job.blocks, g.parts);
    ep::parallel(static_cast<int>(parts), attend, &job);
    return 0;
}
