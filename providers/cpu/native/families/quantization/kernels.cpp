// The rows of Quantize and Dequantize. Compiled once per instruction set.
#include "isa/isa.h"
#include "quantization.h"

namespace {

#include "types/block.h"

// (x - zero point) scale, in the type of scale.
template <class Integer, class Float>
struct Dequantized {
    using X = Integer;
    using Scale = Float;
    using Zero = Integer;
    static EP_INLINE Float of(Integer x, Float scale, Integer zero) {
        return (static_cast<Float>(x) - static_cast<Float>(zero)) * scale;
    }
    static const ep_storage& scale_of(const ep_row& row) { return *row.to; }
};

// x / scale, rounded to even, and the zero point, within the integers; 0 for a quotient that is NaN. Those beyond 2^18
// saturate with every zero point of 16 bits.
template <class Float, class Integer>
struct Quantized {
    using X = Float;
    using Scale = Float;
    using Zero = Integer;
    static EP_INLINE Integer of(Float x, Float scale, Integer zero) {
        constexpr Float far = 1 << 18;
        constexpr int32_t low = std::numeric_limits<Integer>::min(), high = std::numeric_limits<Integer>::max();
        const Float quotient = x / scale, below = quotient > far ? far : quotient, near = below < -far ? -far : below;
        const bool is_number = quotient == quotient;
        const int32_t steps = static_cast<int32_t>(nearest_integer(is_number ? near : Float{0})) + int32_t{zero};
        const int32_t least = steps > low ? steps : low, inside = least < high ? least : high;
        return static_cast<Integer>(is_number ? inside : 0);
    }
    static const ep_storage& scale_of(const ep_row& row) { return *row.from; }
};

// Scale or zero point beside a run of n elements; one that stays is repeated once.
template <class T>
class Beside {
   public:
    Beside(const ep_storage& storage, const char* at, int64_t step, int64_t n)
        : storage_(storage), at_(at), step_(step) {
        if (step == 0) storage.load(at, step, n < ep::BLOCK ? n : ep::BLOCK, block_);
    }

    const T* elements(int64_t i, int64_t n) {
        return step_ == 0 ? block_ : static_cast<const T*>(storage_.load(at_ + i * step_, step_, n, block_));
    }

   private:
    const ep_storage& storage_;
    const char* const at_;
    const int64_t step_;
    T block_[ep::BLOCK];
};

// x is read before out is written, which shares no byte with it, so no iteration depends on another.
template <class Op, class Out>
EP_INLINE void apply(const typename Op::X* x, const typename Op::Scale* scale, const typename Op::Zero* zero, Out* out,
                     int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = Op::of(x[i], scale[i], zero[i]);
}
template <class Op, class Out>
EP_INLINE void apply_one(const typename Op::X* x, typename Op::Scale scale, typename Op::Zero zero, Out* out,
                         int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = Op::of(x[i], scale, zero);
}

// Blocks of a run: m elements from number i on, of x and of out.
template <class Op, class Out, class Apply>
EP_INLINE void over_blocks(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n, Apply apply) {
    const ep_row& row = *geometry->row;
    Target out(*row.to, at[3], step[3], streams(geometry->traffic, geometry->operands, at, n));
    Block staged;
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        const void* const x = row.from->load(at[0] + i * step[0], step[0], m, staged.bytes);
        apply(i, m, static_cast<const typename Op::X*>(x), static_cast<Out*>(out.block()));
        out.flush(m);
    }
}

template <class Op, class Out>
void scaled(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    using X = typename Op::X;
    using Scale = typename Op::Scale;
    using Zero = typename Op::Zero;
    const ep_storage& scales = Op::scale_of(*geometry->row);
    if (step[1] == 0 && step[2] == 0) {
        Scale block[1];
        const Scale scale = *static_cast<const Scale*>(scales.load(at[1], scales.size, 1, block));
        const Zero zero = *reinterpret_cast<const Zero*>(at[2]);
        over_blocks<Op, Out>(geometry, at, step, n,
                             [&](int64_t, int64_t m, const X* x, Out* out) { apply_one<Op>(x, scale, zero, out, m); });
        return;
    }
    Beside<Scale> scale(scales, at[1], step[1], n);
    Beside<Zero> zero(*EP_STORAGE(Zero), at[2], step[2], n);
    over_blocks<Op, Out>(geometry, at, step, n, [&](int64_t i, int64_t m, const X* x, Out* out) {
        apply<Op>(x, scale.elements(i, m), zero.elements(i, m), out, m);
    });
}

template <class From, class To>
constexpr auto dequantized = scaled<Dequantized<From, Staged<To>>, Staged<To>>;
template <class From, class To>
constexpr auto quantized = scaled<Quantized<Staged<From>, To>, To>;

#define EP_DEQUANTIZE(R, T) \
    EP_ROW("dequantize", "-", T, R, ep::quantization, (dequantized<EP_TYPE(T), EP_TYPE(R)>), nullptr, nullptr)
#define EP_QUANTIZE(R, T) \
    EP_ROW("quantize", "-", T, R, ep::quantization, (quantized<EP_TYPE(T), EP_TYPE(R)>), nullptr, nullptr)

// clang-format off
const ep_row ROWS[] = {
    EP_FLOATS(EP_DEQUANTIZE, int8) EP_FLOATS(EP_DEQUANTIZE, uint8) EP_FLOATS(EP_DEQUANTIZE, int16)
    EP_FLOATS(EP_DEQUANTIZE, uint16) EP_FLOATS(EP_DEQUANTIZE, int32)
    EP_QUANTIZED(EP_QUANTIZE, float16) EP_QUANTIZED(EP_QUANTIZE, bfloat16)
    EP_QUANTIZED(EP_QUANTIZE, float32) EP_QUANTIZED(EP_QUANTIZE, float64)
};
// clang-format on

}  // namespace

EP_PART
