// The loops of Convolution and Pool over pieces of y: windows of many places at once, in registers.
// Compiled once per instruction set.
#include <algorithm>

#include "convolution.h"
#include "isa/isa.h"

namespace {
// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "isa/copies.h"
#include "piece.h"
#include "maxima.h"
// clang-format on

// What sums of a piece are made of, and where they go: `terms` is from the weights of one channel of y to those of the
// next, `length` from its sums to those of the next.
template <class S>
struct Given {
    const Layout& layout;
    int64_t made, channels, terms, length;
    const S *w, *bias;
};

// MADE channels of y, from number m on, at so many vectors of places: chains in the order of the weights, which begin
// with the bias.
template <class S, int MADE, int VECTORS>
EP_INLINE void sum_places(const Given<S>& given, int64_t m, const S* x, S* out) {
    constexpr int lanes = Vector<S>::lanes;
    const int64_t *const window = given.layout.window(), size = given.layout.size();
    const S* w = given.w + m * given.terms;
    V<S> sums[MADE][VECTORS];
#pragma GCC unroll 8
    for (int k = 0; k < MADE; ++k)
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) sums[k][v] = repeated(given.bias[m + k]);
    for (int64_t c = 0; c < given.channels; ++c, x += given.layout.channel(), w += size)
        for (int64_t i = 0; i < size; ++i) {
            V<S> places[VECTORS];
#pragma GCC unroll 8
            for (int v = 0; v < VECTORS; ++v) places[v] = load(x + window[i] + v * lanes);
#pragma GCC unroll 8
            for (int k = 0; k < MADE; ++k) {
                const V<S> weight = repeated(w[k * given.terms + i]);
#pragma GCC unroll 8
                for (int v = 0; v < VECTORS; ++v) sums[k][v] = multiply_add<S>(weight, places[v], sums[k][v]);
            }
        }
#pragma GCC unroll 8
    for (int k = 0; k < MADE; ++k)
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) store<S>(out + (m + k) * given.length + v * lanes, sums[k][v]);
}

// Channels of y whose sums of three vectors the registers hold: a vector of x that begins inside a line takes two
// loads.
constexpr int MADE_AT_ONCE = EP_WIDTH == 64 ? 8 : 4;

// All channels of y at all places of a piece; what x has at a block of places stays in the caches for all of them.
template <class S, int MADE, int VECTORS>
__attribute__((noinline)) void sum_piece(const Given<S>& given, int64_t places, const S* x, S* out) {
    constexpr int64_t block = VECTORS * Vector<S>::lanes;
    for (int64_t i = 0; i < places; i += block) {
        int64_t m = 0;
        for (; m + MADE <= given.made; m += MADE) sum_places<S, MADE, VECTORS>(given, m, x + i, out + i);
        if constexpr (MADE > 4)
            for (; m + 4 <= given.made; m += 4) sum_places<S, 4, VECTORS>(given, m, x + i, out + i);
        if constexpr (MADE > 2)
            for (; m + 2 <= given.made; m += 2) sum_places<S, 2, VECTORS>(given, m, x + i, out + i);
        for (; m < given.made; ++m) sum_places<S, 1, VECTORS>(given, m, x + i, out + i);
    }
}

// n elements, each `step` bytes from the one before, as they are computed with.
template <class S>
void bring(const ep_storage& storage, const char* at, int64_t step, int64_t n, S* to) {
    for (int64_t i = 0, some; i < n; i += some) {
        some = std::min(ep::BLOCK, n - i);
        const void* const from = storage.load(at + i * step, step, some, to + i);
        if (from != to + i) std::memcpy(to + i, from, static_cast<size_t>(some) * sizeof(S));
    }
}

// The weights of a group in the order of their sums, and its bias.
template <class S>
class Weights {
   public:
    Weights(const ep_convolution_plan& convolution, const Layout& layout, char* const* at, S* weights, S* bias)
        : g_(convolution), layout_(layout), at_(at), weights_(weights), bias_(bias) {}

    const S* bias() const { return bias_; }

    const S* of(int64_t group) {
        const char* const at = at_[EP_CONVOLUTION_W] + group * g_.group[EP_CONVOLUTION_W];
        if (group != group_) {
            group_ = group;
            bring_bias(group);
            if (g_.place[EP_CONVOLUTION_W] < 0)
                std::fill_n(weights_, g_.made * g_.channels * layout_.size(), S{1});
            else if (g_.keeps_weights == 0)
                bring_weights(at);
        }
        return g_.keeps_weights != 0 ? reinterpret_cast<const S*>(at) : weights_;
    }

   private:
    void bring_bias(int64_t group) {
        std::fill_n(bias_, g_.made, S{0});
        if (g_.place[EP_CONVOLUTION_BIAS] < 0) return;
        const char* const at = at_[EP_CONVOLUTION_BIAS] + group * g_.group[EP_CONVOLUTION_BIAS];
        bring(*g_.row->from, at, g_.channel_made[EP_CONVOLUTION_BIAS], g_.made, bias_);
    }

    void bring_weights(const char* at) {
        const int last = g_.windows.ndim - 1;
        const int64_t *const step = g_.w_step, *const window = g_.windows.window, channel = g_.w_channel;
        const int64_t size = layout_.size(), n = size == 1 ? g_.channels : window[last];
        S* to = weights_;
        for (int64_t i = 0, all = g_.made * g_.channels * size; i < all; i += n, to += n) {
            int64_t rest = i / size, offset = rest / g_.channels * g_.channel_made[EP_CONVOLUTION_W];
            offset += rest % g_.channels * channel;
            rest = i % size / window[last];
            for (int64_t d = last - 1; d >= 0; rest /= window[d], --d) offset += rest % window[d] * step[d];
            bring(*g_.row->from, at + offset, size == 1 ? channel : step[last], n, to);
        }
    }

    const ep_convolution_plan& g_;
    const Layout& layout_;
    char* const* const at_;
    S *const weights_, *const bias_;
    int64_t group_ = -1;
};

template <class T>
void convolve(const ep_convolution_plan& g, char* const* at, int64_t begin, int64_t end, char* scratch) {
    using S = Staged<T>;
    const Layout layout(g);
    const int64_t length = layout.length(g.lines) + ep::BEYOND;
    S* const x = reinterpret_cast<S*>(scratch);
    S* const out = x + g.channels * layout.channel() + ep::BEYOND;
    S* const bias = out + g.made * length;
    S* const own = bias + g.made;
    S* const counts = own + g.made * g.channels * layout.size();
    Weights<S> weights(g, layout, at, own, bias);
    if (g.divisor == 0) layout.count(counts);
    ep::Piece piece = piece_of(g, begin);
    for (int64_t number = begin; number < end; ++number, advance(g, piece)) {
        const S* const w = weights.of(piece.group);
        layout.bring(given(g, at, piece), piece, S{0}, x);
        const auto sum = g.made == 1 ? sum_piece<S, 1, 8> : sum_piece<S, MADE_AT_ONCE, 3>;
        sum({layout, g.made, g.channels, g.channels * layout.size(), length, w, bias}, layout.length(piece.count), x,
            out);
        if (g.divisor == 0)
            layout.divide(out, piece, counts);
        else if (g.divisor != 1)
            for (int64_t i = 0; i < g.made * length; ++i) out[i] = out[i] / static_cast<S>(g.divisor);
        char* const y = made(g, at, piece);
        for (int64_t m = 0; m < g.made; ++m)
            layout.put(out + m * length, piece, y + m * g.channel_made[EP_CONVOLUTION_Y]);
    }
}

template <class T>
constexpr ep::Convolver SUMS = {convolve<T>};
template <class T>
constexpr ep::Convolver MAXIMA = {find_largest<T>};

#define EP_CONVOLUTION_ROW(T, family, op, code) \
    EP_ROW(family, op, T, T, ep::convolution, nullptr, nullptr, &code<T_##T>)

// clang-format off
const ep_row ROWS[] = {
    EP_FLOATS(EP_CONVOLUTION_ROW, "convolution", "-", SUMS)
    EP_FLOATS(EP_CONVOLUTION_ROW, "pool", "average", SUMS)
    EP_FLOATS(EP_CONVOLUTION_ROW, "pool", "max", MAXIMA)};
// clang-format on

}  // namespace

EP_PART
