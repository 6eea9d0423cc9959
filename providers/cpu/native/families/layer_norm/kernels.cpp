// The loops of LayerNorm over rows: a sum, the sum of squared differences from the mean, and each element from these.
// Compiled once per instruction set.
#include <algorithm>

#include "isa/isa.h"
#include "layer_norm.h"

#define EP_LAMBDA __attribute__((always_inline))

namespace {
// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "math/sums.h"
// clang-format on

struct Plus {
    template <class S>
    EP_INLINE S operator()(S a, S b) const {
        return a + b;
    }
};

// The sum of `change` over the elements of a block; `change` makes 0 of `rest`, which fills the last vector.
template <class T, class Function>
EP_INLINE T block_sum(const T* x, int64_t n, T rest, Function change) {
    V<T> sums[VECTORS<T>] = {};
    each_vector<T>(n, [&](int64_t i, int v, int count) EP_LAMBDA {
        V<T> term = load_lanes(x + i, count, rest);
        change(term);
        sums[v] = sums[v] + term;
    });
    return folded<T>(merged<T>(sums, n, Plus{}), Plus{});
}

template <class T>
__attribute__((noinline)) T sum(const T* x, int64_t n) {
    return block_sum(x, n, T{0}, [](V<T>&) EP_LAMBDA {});
}

template <class T>
__attribute__((noinline)) T squares(const T* x, int64_t n, T mean) {
    const V<T> middle = repeated(mean);
    return block_sum(x, n, mean, [&](V<T>& term) EP_LAMBDA {
        term = term - middle;
        term = term * term;
    });
}

template <class T>
__attribute__((noinline)) void finish(const T* x, const T* scale, const T* bias, int64_t n, T mean, T rstd, T* y) {
    const V<T> middle = repeated(mean), factor = repeated(rstd);
    each_vector<T>(n, [&](int64_t i, int, int count) EP_LAMBDA {
        V<T> made = (load_lanes(x + i, count, T{0}) - middle) * factor;
        if (scale != nullptr) made = made * load_lanes(scale + i, count, T{0});
        if (bias != nullptr) made = made + load_lanes(bias + i, count, T{0});
        store_lanes(y + i, count, made);
    });
}

// Elements of rows as they are computed with, in blocks, from where they lie and back.
template <class T>
class Row {
   public:
    Row(const ep_layer_norm_plan& norm, const ep_storage& storage, int place)
        : norm_(norm),
          storage_(storage),
          step_(norm.step[place]),
          last_(norm.inner - 1),
          is_there_(norm.inner == 1 && storage.is_direct && step_[0] == storage.size) {}

    // n elements from number i on: in `block`, or where they lie.
    const T* load(const char* at, int64_t i, int64_t n, T* block) const {
        if (is_there_) return reinterpret_cast<const T*>(at) + i;
        each_run(i, n, [&](int64_t offset, int64_t done, int64_t m) {
            for (int64_t k = 0, some; k < m; k += some) {
                some = std::min(ep::BLOCK, m - k);
                T* const to = block + done + k;
                const void* const from = storage_.load(at + offset + k * step_[last_], step_[last_], some, to);
                if (from != to) std::memcpy(to, from, static_cast<size_t>(some) * sizeof(T));
            }
        });
        return block;
    }

    // At most BLOCK elements.
    void store(const T* block, char* at, int64_t i, int64_t n) const {
        each_run(i, n, [&](int64_t offset, int64_t done, int64_t m) {
            storage_.store(block + done, at + offset, step_[last_], m, false);
        });
    }

   private:
    // visit(place of the first element in bytes, elements before it, elements) of each run along the last dimension
    template <class Visit>
    void each_run(int64_t i, int64_t n, Visit visit) const {
        const int64_t extent = norm_.extent[last_];
        for (int64_t done = 0, m; done < n; done += m) {
            int64_t rest = (i + done) / extent, offset = (i + done) % extent * step_[last_];
            m = std::min(n - done, extent - (i + done) % extent);
            for (int d = last_ - 1; d >= 0; rest /= norm_.extent[d], --d) offset += rest % norm_.extent[d] * step_[d];
            visit(offset, done, m);
        }
    }

    const ep_layer_norm_plan& norm_;
    const ep_storage& storage_;
    const int64_t* const step_;
    const int last_;
    const bool is_there_;
};

// Scale or bias: nullptr if it is missing; a short one is loaded once for all rows.
template <class T>
class Columns {
   public:
    Columns(const ep_layer_norm_plan& norm, const ep_storage& storage, char* const* at, int place)
        : row_(norm, storage, place), at_(at[place]), is_missing_(norm.present[place] == 0) {
        is_kept_ = norm.terms <= ep::KEPT;
        if (!is_missing_ && is_kept_) all_ = row_.load(at_, 0, norm.terms, block_);
    }

    const T* load(int64_t i, int64_t n) {
        if (is_missing_) return nullptr;
        return is_kept_ ? all_ + i : row_.load(at_, i, n, block_);
    }

   private:
    const Row<T> row_;
    const char* const at_;
    const bool is_missing_;
    bool is_kept_;
    const T* all_ = nullptr;
    alignas(ep::LINE) T block_[ep::KEPT];
};

// Blocks of one row after another; a short row stays where it was brought.
template <class T>
class Given {
   public:
    Given(const ep_layer_norm_plan& norm, const ep_storage& storage)
        : row_(norm, storage, EP_NORM_X), is_kept_(norm.terms <= ep::KEPT), terms_(norm.terms) {}

    void begin(const char* at) {
        at_ = at;
        if (is_kept_) all_ = row_.load(at, 0, terms_, block_);
    }
    const T* load(int64_t i, int64_t n) { return is_kept_ ? all_ + i : row_.load(at_, i, n, block_); }

    template <class Function>
    T total(Function function) {
        Pairwise<T> sums;
        for (int64_t i = 0, n; i < terms_; i += n) {
            n = std::min(ep::BLOCK, terms_ - i);
            sums.add(function(load(i, n), n));
        }
        return terms_ == 0 ? T{0} : sums.total();
    }

   private:
    const Row<T> row_;
    const bool is_kept_;
    const int64_t terms_;
    const char* at_ = nullptr;
    const T* all_ = nullptr;
    alignas(ep::LINE) T block_[ep::KEPT];
};

template <class T>
void normalize(const ep_layer_norm_plan& g, char* const* first, int64_t begin, int64_t end) {
    const ep_storage& storage = *g.row->from;
    Given<T> x(g, storage);
    Columns<T> scale(g, storage, first, EP_NORM_SCALE), bias(g, storage, first, EP_NORM_BIAS);
    const Row<T> y(g, storage, EP_NORM_Y);
    const T terms = static_cast<T>(g.terms), epsilon = static_cast<T>(g.epsilon);
    alignas(ep::LINE) T block[ep::BLOCK];
    for (int64_t row = begin; row < end; ++row) {
        char* at[EP_NORM_PLACES];
        std::copy_n(first, int{EP_NORM_PLACES}, at);
        for (int64_t d = g.ndim - 1, rest = row; d >= 0; rest /= g.shape[d], --d)
            for (int k = 0; k < EP_NORM_PLACES; ++k) at[k] += rest % g.shape[d] * g.stride[k][d];
        x.begin(at[EP_NORM_X]);
        const T mean = x.total([](const T* some, int64_t n) { return sum(some, n); }) / terms;
        const T variance = x.total([&](const T* some, int64_t n) { return squares(some, n, mean); }) / terms;
        const T rstd = T{1} / std::sqrt(variance + epsilon);
        for (int64_t i = 0, n; i < g.terms; i += n) {
            n = std::min(ep::BLOCK, g.terms - i);
            finish(x.load(i, n), scale.load(i, n), bias.load(i, n), n, mean, rstd, block);
            y.store(block, at[EP_NORM_Y], i, n);
        }
        if (g.present[EP_NORM_MEAN] != 0) std::memcpy(at[EP_NORM_MEAN], &mean, sizeof mean);
        if (g.present[EP_NORM_RSTD] != 0) std::memcpy(at[EP_NORM_RSTD], &rstd, sizeof rstd);
    }
}

template <class T>
constexpr ep::Normalizer NORMALIZER = {normalize<T>};

#define EP_NORM_ROW(T, ...) \
    EP_ROW("layer_norm", "-", T, T, ep::layer_norm, nullptr, nullptr, &NORMALIZER<Staged<T_##T>>)

// clang-format off
const ep_row ROWS[] = {EP_FLOATS(EP_NORM_ROW, )};
// clang-format on

}  // namespace

EP_PART
