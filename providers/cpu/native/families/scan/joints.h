// Functions that join elements of a scan, and the carry from the runs before. Included once per instruction set, in an
// anonymous namespace, after arithmetic.h and lanes.h.
#pragma once

// Numbers as lanes: whole ones wrap, and unsigned ones do so by definition.
template <class T>
using WordOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
using WrappingOf = std::conditional_t<std::is_floating_point_v<T>, T, WordOf<T>>;

template <class T>
struct Added {
    using S = T;
    // Whether the next element waits for all of the one before, and whether joining takes few instructions.
    static constexpr bool is_serial = false, is_short = true;
    static EP_INLINE S identity() { return S{}; }
    static EP_INLINE S join(S a, S b) { return sum(a, b); }
    using Lane = WrappingOf<T>;
    static EP_INLINE V<Lane> join_lanes(V<Lane> a, V<Lane> b) { return a + b; }
};

// One by one: the product of a run may leave the range of numbers where those from the row's first element on do not.
template <class T>
struct Multiplied {
    using S = T;
    static constexpr bool is_serial = true, is_short = true;
    static EP_INLINE S identity() {
        if constexpr (std::is_arithmetic_v<S>)
            return S{1};
        else
            return {1.0, 0.0};
    }
    static EP_INLINE S join(S a, S b) { return product(a, b); }
};

// NaN wins from either side; of equal numbers `equal` is the result, which knows the zeros' signs.
template <class T>
EP_INLINE V<T> settle(V<T> ordered, V<T> equal, V<T> a, V<T> b) {
    const V<T> settled = a == b ? equal : ordered;
    return a != a ? a : settled;
}

template <class T>
struct Most {
    using S = T;
    using Limits = std::numeric_limits<T>;
    static constexpr bool is_serial = false, is_short = !std::is_floating_point_v<T>;
    static EP_INLINE S identity() { return Limits::has_infinity ? -Limits::infinity() : Limits::lowest(); }
    static EP_INLINE S join(S a, S b) { return larger(a, b); }
    using Lane = T;
    static EP_INLINE V<T> join_lanes(V<T> a, V<T> b) {
        const V<T> ordered = a > b ? a : b;
        if constexpr (!std::is_floating_point_v<T>) return ordered;
        using Bits = V<WordOf<T>>;
        return settle<T>(ordered, reinterpret_cast<V<T>>(reinterpret_cast<Bits>(a) & reinterpret_cast<Bits>(b)), a, b);
    }
};
template <class T>
struct Least {
    using S = T;
    using Limits = std::numeric_limits<T>;
    static constexpr bool is_serial = false, is_short = !std::is_floating_point_v<T>;
    static EP_INLINE S identity() { return Limits::has_infinity ? Limits::infinity() : Limits::max(); }
    static EP_INLINE S join(S a, S b) { return smaller(a, b); }
    using Lane = T;
    static EP_INLINE V<T> join_lanes(V<T> a, V<T> b) {
        const V<T> ordered = a < b ? a : b;
        if constexpr (!std::is_floating_point_v<T>) return ordered;
        using Bits = V<WordOf<T>>;
        return settle<T>(ordered, reinterpret_cast<V<T>>(reinterpret_cast<Bits>(a) | reinterpret_cast<Bits>(b)), a, b);
    }
};

// The runs of a row so far.
template <class Op>
class Carry {
   public:
    using S = typename Op::S;
    EP_INLINE Carry() : value_(Op::identity()) {}
    EP_INLINE S value() const { return value_; }
    EP_INLINE void add(S run) { value_ = Op::join(value_, run); }

   private:
    S value_;
};
// With the rounding errors of the sum, because a row may have millions of runs; sums that are not finite have none.
template <>
class Carry<Added<double>> {
   public:
    EP_INLINE double value() const { return sum_ - sum_ == 0 ? sum_ + lost_ : sum_; }
    EP_INLINE void add(double run) {
        const DoubleWord<double> next = two_sum(sum_, run);
        sum_ = next.high;
        lost_ += next.low;
    }

   private:
    double sum_ = 0, lost_ = 0;
};
template <>
class Carry<Added<Complex<double>>> {
   public:
    EP_INLINE Complex<double> value() const { return {re_.value(), im_.value()}; }
    EP_INLINE void add(Complex<double> run) {
        re_.add(run.re);
        im_.add(run.im);
    }

   private:
    Carry<Added<double>> re_, im_;
};
