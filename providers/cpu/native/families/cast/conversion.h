// Conversions of one value, by target. Float to integer truncates and saturates, and NaN gives 0; integers wrap.
#pragma once

#include "families/elementwise/bodies.h"

template <class R>
struct CastTo {
    template <class V, class P>
    static EP_INLINE R of(V x, P, P, const double*) {
        if constexpr (std::is_floating_point_v<V> && std::is_integral_v<R>) {
            return saturated(x);
        } else if constexpr (std::is_same_v<V, bool>) {
            return x ? R{1} : R{0};
        } else {
            return static_cast<R>(x);
        }
    }

   private:
    template <class V>
    static EP_INLINE R saturated(V x) {
        using Limits = std::numeric_limits<R>;
        using Way = std::conditional_t<(sizeof(R) < 4), int32_t, R>;  // vectors convert to no narrower integer
        // 2^digits is exact in every float type; the least value is too.
        constexpr V high = static_cast<V>(Limits::max() / 2 + 1) * V{2}, low = static_cast<V>(Limits::min());
        const V number = x == x ? x : V{0};
        if constexpr (Limits::digits <= std::numeric_limits<V>::digits) {
            return static_cast<R>(static_cast<Way>(at_least(at_most(number, static_cast<V>(Limits::max())), low)));
        } else {
            const V inside = ((number < high) & (number >= low)) ? number : V{0};
            const R ordinary = static_cast<R>(static_cast<Way>(inside));
            const R above = number >= high ? Limits::max() : ordinary;
            return number < low ? Limits::min() : above;
        }
    }
};

struct Truth {
    template <class V, class P>
    static EP_INLINE bool of(V x, P, P, const double*) {
        return x != V{};
    }
};

// A float that rounds to any narrower one as x does: x itself, or x rounded to odd at 24 bits.
struct ForNarrow {
    template <class V, class P>
    static EP_INLINE float of(V x, P, P, const double*) {
        if constexpr (std::is_same_v<V, double>) {
            return odd(x);
        } else if constexpr (sizeof(V) == 4 && std::is_integral_v<V>) {
            return odd(static_cast<double>(x));
        } else if constexpr (sizeof(V) == 8) {
            return odd(static_cast<double>(odd_integer(x)));
        } else {
            return x;
        }
    }

   private:
    // Towards zero, and the last bit set where that was not exact; a float may be denormal, or the greatest.
    static EP_INLINE float odd(double x) {
        const float near = static_cast<float>(x);
        const double back = static_cast<double>(near);
        const uint64_t above = absolute_of(back) > absolute_of(x) ? 1 : 0, inexact = back != x ? 1 : 0;
        return of_bits<float>((bits_of(near) - static_cast<uint32_t>(above)) | static_cast<uint32_t>(inexact));
    }
    // An integer that double cannot hold exactly, rounded to an odd multiple of 2^11, which double holds.
    template <class V>
    static EP_INLINE V odd_integer(V x) {
        constexpr V step = V{1} << 11, exact = V{1} << 53;
        const V lost = x & (step - 1);
        const V rounded = (x - lost) | (lost != 0 ? step : 0);
        bool is_exact = x <= exact;
        if constexpr (std::is_signed_v<V>) is_exact &= x >= -exact;
        return is_exact ? x : rounded;
    }
};

// The same, and at most the greatest number of the narrower type; NaN passes.
template <class R>
struct Saturated {
    static constexpr float greatest = std::is_same_v<R, Float8E4M3FN> ? 448.0F : 57344.0F;
    template <class V, class P>
    static EP_INLINE float of(V x, P p, P q, const double* attributes) {
        return at_least(at_most(ForNarrow::of(x, p, q, attributes), greatest), -greatest);
    }
};

struct Whole {
    template <class V, class P>
    static EP_INLINE V of(V x, P, P, const double*) {
        return x;
    }
};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<Complex<T>> = true;

template <class T>
struct PartOf {
    using type = T;
};
template <class T>
struct PartOf<Complex<T>> {
    using type = RealOf<T>;
};

// Integers of 64 bits become floats one by one before AVX-512. Where all of a block fit 32 bits, those are converted
// side by side, and round alike.
template <class Op, class S, class R>
void body1_of_wide(const void* x, const void*, void* out, int64_t n, const double* attributes, int) {
    constexpr uint64_t below = std::is_signed_v<S> ? uint64_t{1} << 31 : 0;
    constexpr int bits = std::is_signed_v<S> ? 32 : 31;
    const S* const from = static_cast<const S*>(x);
    R* const to = static_cast<R*>(out);
    for (int64_t i = 0; i < n; i += ep::BLOCK) {
        const int64_t m = n - i < ep::BLOCK ? n - i : ep::BLOCK;
        uint64_t all = 0;
        for (int64_t k = 0; k < m; ++k) all |= static_cast<uint64_t>(from[i + k]) + below;
        if (all >> bits != 0) {
            body1<Op, S, R>(from + i, nullptr, to + i, m, attributes, -1);
            continue;
        }
#pragma GCC ivdep
        for (int64_t k = 0; k < m; ++k) to[i + k] = static_cast<R>(static_cast<int32_t>(from[i + k]));
    }
}

// The storages that a cast reads and writes through, and the conversion between them.
template <class T, class R>
struct Conversion {
    static constexpr bool is_whole = is_complex<T> && is_complex<R>, is_test = std::is_same_v<R, Boolean>;
    using From = std::conditional_t<is_whole || is_test, T, typename PartOf<T>::type>;
    using To = std::conditional_t<is_whole, R, typename PartOf<R>::type>;

   private:
    using S = Staged<From>;
    // Integers to integers depend on the target's size alone.
    template <class V>
    static auto target() {
        if constexpr (std::is_integral_v<V> && !std::is_floating_point_v<S>) {
            return std::make_unsigned_t<V>{};
        } else {
            return V{};
        }
    }
    using Q = decltype(target<Staged<To>>());
    using Op =
        std::conditional_t<is_test, Truth,
                           std::conditional_t<is_whole, Whole, std::conditional_t<is_narrow<R>, ForNarrow, CastTo<Q>>>>;

    // Storages alone make float of narrow types and narrow types of float.
    static constexpr bool is_staging = !is_test && !std::is_same_v<From, To> && std::is_same_v<S, float> &&
                                       std::is_same_v<Staged<To>, float> && (is_narrow<From> || is_narrow<To>);

    static constexpr ep_body chosen() {
        if constexpr (is_staging)
            return nullptr;
        else if constexpr (EP_WIDTH < 64 && sizeof(S) == 8 && std::is_integral_v<S> && std::is_same_v<Op, CastTo<Q>> &&
                           std::is_floating_point_v<Q>)
            return body1_of_wide<Op, S, Q>;
        else
            return body1<Op, S, Q>;
    }

   public:
    static constexpr ep_body body = chosen();
    static constexpr ep_body saturating = body1<Saturated<R>, S, Q>;
};
