// The loops of norms over rows: LayerNorm takes a sum, and the sum of squared differences from the mean, RmsLayerNorm a
// sum of squares, and BatchNorm is given both; each element is made from these. Compiled once per instruction set.
#include <algorithm>

#include "isa/isa.h"
#include "norm.h"

#define EP_LAMBDA __attribute__((always_inline))

namespace {
// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "types/block.h"
#include "types/stored.h"
#include "math/sums.h"
#include "row.h"
// clang-format on

enum class Kind { layer, rms, batch };

struct Plus {
    template <class S>
    EP_INLINE S operator()(S a, S b) const {
        return a + b;
    }
};

// The sum of `change` over the elements of a block; `change` makes 0 of `rest`, which fills the last vector.
template <class S, class E, class Function>
EP_INLINE S block_sum(const E* x, int64_t n, S rest, Function change) {
    V<S> sums[VECTORS<S>] = {};
    each_vector<S>(n, [&](int64_t i, int v, int count) EP_LAMBDA {
        V<S> term = load_stored_lanes<S>(x + i, count, rest);
        change(term);
        sums[v] = sums[v] + term;
    });
    return folded<S>(merged<S>(sums, n, Plus{}), Plus{});
}

template <class S, class E>
__attribute__((noinline)) S sum(const E* x, int64_t n) {
    return block_sum<S>(x, n, S{0}, [](V<S>&) EP_LAMBDA {});
}

// Rows that are about to be written come in at `next`, if it is not null.
template <class S, class E>
__attribute__((noinline)) S squares(const E* x, int64_t n, S mean, const char* next) {
    const V<S> middle = repeated(mean);
    return block_sum<S>(x, n, mean, [&](V<S>& term) EP_LAMBDA {
        if (next != nullptr) {
            __builtin_prefetch(next, 1, 2);
            next += int64_t{Vector<S>::lanes} * int64_t{sizeof(E)};
        }
        term = term - middle;
        term = term * term;
    });
}

// (x - mean) rstd scale + bias; elements that are about to be read come in at `next`, if it is not null.
template <class S, class E>
__attribute__((noinline)) void finish(const E* x, Factor<S> scale, Factor<S> bias, int64_t n, S mean, S rstd, S* y,
                                      const char* next) {
    const V<S> middle = repeated(mean), factor = repeated(rstd);
    each_vector<S>(n, [&](int64_t i, int, int count) EP_LAMBDA {
        if (next != nullptr) __builtin_prefetch(next + i * int64_t{sizeof(E)}, 0, 2);
        const V<S> made = (load_stored_lanes<S>(x + i, count, S{0}) - middle) * factor;
        store_lanes(y + i, count, made * scale.load(i, count) + bias.load(i, count));
    });
}

// Rows that are summed together stay in the first cache.
constexpr int64_t TOGETHER = 8, TOGETHER_BYTES = 16384;

// Where the tensors of a row begin.
struct Places {
    char* of[EP_NORM_PLACES];
};

// Rows that are summed before the first of them is finished.
struct Batch {
    Places at[TOGETHER];
    int64_t count = 0;
};

// Bytes of a row; longer ones would not stay in the second cache beside those that are computed.
constexpr int64_t LONGEST_AHEAD = 1 << 16;

// A row that is needed soon, which comes into the second cache a line at a time beside what is computed: many lines at
// once keep those waiting that are read.
class Ahead {
   public:
    EP_INLINE void begin(const char* at) { at_ = at; }
    // Where the part begins that comes in beside the next so many bytes; null where none does.
    EP_INLINE const char* beside(int64_t nbytes) {
        const char* const at = at_;
        if (at != nullptr) at_ += nbytes;
        return at;
    }

   private:
    const char* at_ = nullptr;
};

template <class T, class S>
class Rows {
   public:
    Rows(const ep_norm_plan& norm, bool streams)
        : norm_(norm),
          storage_(*norm.row->from),
          streams_(streams),
          x_(norm),
          y_(norm, EP_NORM_Y),
          scale_(norm, EP_NORM_SCALE, S{1}),
          bias_(norm, EP_NORM_BIAS, S{-0.0}),
          fetches_(2 * norm.traffic >= ep::FETCHING && norm.terms * int64_t{sizeof(T)} <= LONGEST_AHEAD &&
                   x_.is_read_in_place()) {}

    // How many rows are summed before the first of them is finished: none waits for its sums then.
    int64_t together() const {
        return x_.is_read_in_place()
                   ? std::clamp<int64_t>(TOGETHER_BYTES / (norm_.terms + 1) / int64_t{sizeof(S)}, 1, TOGETHER)
                   : 1;
    }

    // The rows of `now`; those of `next` are fetched meanwhile, but with a single pass, which reads on by itself.
    template <Kind kind>
    void normalize(const Batch& now, const Batch& next) {
        const int64_t count = now.count;
        const Places* const at = now.at;
        S mean[TOGETHER] = {}, rstd[TOGETHER];
        const S terms = static_cast<S>(norm_.terms), epsilon = static_cast<S>(norm_.epsilon);
        if constexpr (kind == Kind::layer)
            for (int64_t r = 0; r < count; ++r) {
                x_.begin(at[r].of[EP_NORM_X]);
                mean[r] = x_.total([](const auto* some, int64_t n) { return sum<S>(some, n); }) / terms;
            }
        if constexpr (kind != Kind::batch)
            for (int64_t r = 0; r < count; ++r) {
                x_.begin(at[r].of[EP_NORM_X]);
                y_ahead_.begin(fetches_ && !streams_ && y_.is_contiguous() ? at[r].of[EP_NORM_Y] : nullptr);
                const auto block = [&](const auto* some, int64_t n) {
                    const char* const next = y_ahead_.beside(n * int64_t{sizeof(T)});
                    return squares<S>(some, n, mean[r], next);
                };
                rstd[r] = S{1} / std::sqrt(x_.total(block) / terms + epsilon);
            }
        for (int64_t r = 0; r < count; ++r) {
            char* const* const own = at[r].of;
            x_.begin(own[EP_NORM_X]);
            x_ahead_.begin(kind != Kind::batch && fetches_ && r < next.count ? next.at[r].of[EP_NORM_X] : nullptr);
            if constexpr (kind == Kind::batch) {
                rstd[r] = fold(own);
            } else {
                scale_.begin(own[EP_NORM_SCALE]);
                bias_.begin(own[EP_NORM_BIAS]);
            }
            finish_row(own[EP_NORM_Y], mean[r], rstd[r]);
            if constexpr (kind == Kind::layer) {
                if (norm_.place[EP_NORM_MEAN] >= 0) std::memcpy(own[EP_NORM_MEAN], mean + r, sizeof(S));
                if (norm_.place[EP_NORM_RSTD] >= 0) std::memcpy(own[EP_NORM_RSTD], rstd + r, sizeof(S));
            }
        }
    }

   private:
    // The number of a channel; `usual` if it is missing.
    S number(char* const* at, int place, S usual) const {
        S block[1] = {usual};
        if (norm_.place[place] < 0) return usual;
        return *static_cast<const S*>(storage_.load(at[place], storage_.size, 1, block));
    }

    // The factor of y = x factor - shift, with the bits of the stages that BatchNorm lowers to.
    S fold(char* const* at) {
        S factor = S{1} / std::sqrt(number(at, EP_NORM_RSTD, S{1}) + static_cast<S>(norm_.epsilon));
        if (norm_.place[EP_NORM_SCALE] >= 0) factor = factor * number(at, EP_NORM_SCALE, S{1});
        S shift = factor * number(at, EP_NORM_MEAN, S{0});
        if (norm_.place[EP_NORM_BIAS] >= 0) shift = shift - number(at, EP_NORM_BIAS, S{0});
        bias_.repeat(-shift);
        scale_.repeat(S{1});
        return factor;
    }

    void finish_row(char* at, S mean, S rstd) {
        Target out(storage_, at, storage_.size, streams_);
        for (int64_t i = 0, n; i < norm_.terms; i += n) {
            n = std::min(ep::BLOCK, norm_.terms - i);
            if (y_.is_contiguous()) n = out.length(n);
            n = bias_.length(i, scale_.length(i, n));
            const char* const next = x_ahead_.beside(n * int64_t{sizeof(T)});
            const Factor<S> scale = scale_.load(i, n), bias = bias_.load(i, n);
            S* const made = y_.is_contiguous() ? static_cast<S*>(out.block()) : block_;
            x_.with(i, n, [&](const auto* x, int64_t) { return finish<S>(x, scale, bias, n, mean, rstd, made, next); });
            if (y_.is_contiguous())
                out.flush(n);
            else
                y_.store(block_, at, i, n);
        }
    }

    const ep_norm_plan& norm_;
    const ep_storage& storage_;
    const bool streams_;
    Given<T, S> x_;
    const Row y_;
    Factors<S> scale_, bias_;
    // Where half of the shared cache is taken, rows have left it by the next launch.
    const bool fetches_;
    Ahead x_ahead_, y_ahead_;
    alignas(ep::LINE) S block_[ep::BLOCK];
};

// The batch of so many rows that begins at a row.
void place(const ep_norm_plan& g, char* const* first, int64_t row, int64_t count, Batch& batch) {
    batch.count = count;
    for (int64_t r = 0; r < count; ++r) {
        char** const at = batch.at[r].of;
        std::copy_n(first, int{EP_NORM_PLACES}, at);
        for (int64_t d = g.ndim - 1, rest = row + r; d >= 0; rest /= g.shape[d], --d)
            for (int k = 0; k < EP_NORM_PLACES; ++k) at[k] += rest % g.shape[d] * g.stride[k][d];
    }
}

template <class T, Kind kind>
void normalize(const ep_norm_plan& g, char* const* first, int64_t begin, int64_t end, bool streams) {
    Rows<T, Staged<T>> rows(g, streams);
    const int64_t most = rows.together();
    Batch batches[2];
    place(g, first, begin, std::min(most, end - begin), batches[0]);
    for (int now = 0; batches[now].count > 0; now ^= 1) {
        begin += batches[now].count;
        place(g, first, begin, std::min(most, end - begin), batches[now ^ 1]);
        rows.template normalize<kind>(batches[now], batches[now ^ 1]);
    }
}

template <class T, Kind kind>
constexpr ep::Normalizer NORMALIZER = {normalize<T, kind>, kind == Kind::batch ? 1 : 2};

#define EP_NORM_ROW(T, family, kind) \
    EP_ROW(family, "-", T, T, ep::norm, nullptr, nullptr, (&NORMALIZER<T_##T, Kind::kind>))

// clang-format off
const ep_row ROWS[] = {
    EP_FLOATS(EP_NORM_ROW, "layer_norm", layer)
    EP_FLOATS(EP_NORM_ROW, "rms_layer_norm", rms)
    EP_FLOATS(EP_NORM_ROW, "batch_norm", batch)};
// clang-format on

}  // namespace

EP_PART
