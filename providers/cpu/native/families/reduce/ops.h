// Ops of reductions: states of elements and how they are joined, one by one and vectors of them. Included once per
// instruction set, in an anonymous namespace, after isa/lanes.h, arithmetic.h and order.h.
#pragma once

// Element by element into states of the same type. -0 is the number that changes no sum.
template <class T>
struct Sum {
    using Element = T;
    using State = T;
    using View = Mask<T>;
    static EP_INLINE State nothing() { return -T{}; }
    static EP_INLINE View view(const ep::Lens& lens) { return static_cast<View>(lens.keep); }
    static EP_INLINE State of(T x, View keep) {
        if constexpr (std::is_floating_point_v<T>)
            return masked(x, keep, View{});
        else
            return x;
    }
    static EP_INLINE V<T> of(V<T> x, View keep) {
        if constexpr (std::is_floating_point_v<T>)
            return reinterpret_cast<V<T>>(reinterpret_cast<V<View>>(x) & keep);
        else
            return x;
    }
    template <class X>
    static EP_INLINE X join(X a, X b) {
        return a + b;
    }
};

template <class T>
struct Product {
    using Element = T;
    using State = T;
    struct View {};
    static EP_INLINE State nothing() {
        if constexpr (std::is_arithmetic_v<T>)
            return T{1};
        else
            return {1.0, 0.0};
    }
    static EP_INLINE View view(const ep::Lens&) { return {}; }
    template <class X>
    static EP_INLINE X of(X x, View) {
        return x;
    }
    template <class X>
    static EP_INLINE X join(X a, X b) {
        return a * b;
    }
};

struct Squares {
    using Element = double;
    using State = double;
    using View = double;
    static EP_INLINE State nothing() { return 0.0; }
    static EP_INLINE View view(const ep::Lens& lens) { return lens.scale; }
    template <class X>
    static EP_INLINE X of(X x, View scale) {
        return (x * scale) * (x * scale);
    }
    template <class X>
    static EP_INLINE X join(X a, X b) {
        return a + b;
    }
};

// The least too, and truth of bits: which order elements have is the lens' business.
template <class T>
struct Greatest {
    using Element = T;
    using State = T;
    struct View {
        T keep, flip;
    };
    static EP_INLINE State nothing() { return std::numeric_limits<T>::lowest(); }
    static EP_INLINE View view(const ep::Lens& lens) { return {static_cast<T>(lens.keep), static_cast<T>(lens.flip)}; }
    template <class X>
    static EP_INLINE X of(X x, View view) {
        return (x & view.keep) ^ view.flip;
    }
    template <class X>
    static EP_INLINE X join(X a, X b) {
        return a > b ? a : b;
    }
};

// Floats by their keys, so that NaN wins and zeros have an order at the cost of integers.
template <class T>
struct GreatestKey {
    using Element = T;
    using State = typename KeyOf<T>::Key;
    using View = Mask<T>;
    static EP_INLINE State nothing() { return std::numeric_limits<State>::lowest(); }
    static EP_INLINE View view(const ep::Lens& lens) { return static_cast<View>(lens.flip); }
    static EP_INLINE State of(T x, View flip) { return KeyOf<T>::of(masked(x, ~View{}, flip)); }
    static EP_INLINE V<State> of(V<T> x, View flip) {
        const V<State> bits = reinterpret_cast<V<State>>(reinterpret_cast<V<View>>(x) ^ flip);
        const V<State> sign = bits >> (8 * sizeof(T) - 1);
        return reinterpret_cast<V<State>>(reinterpret_cast<V<View>>(bits ^ (sign & State(KeyOf<T>::top - 1))) +
                                          KeyOf<T>::shift);
    }
    template <class X>
    static EP_INLINE X join(X a, X b) {
        return a > b ? a : b;
    }
};

// sum e^greatest is the sum of e^x; where the greatest is not finite, the sum means nothing.
template <class T>
struct Exponents {
    T greatest, sum;
};

template <class T>
struct LogSumExp {
    using Element = T;
    using State = Exponents<T>;
    struct View {};
    static EP_INLINE State nothing() { return {-std::numeric_limits<T>::infinity(), T{0}}; }
    static EP_INLINE View view(const ep::Lens&) { return {}; }
    static EP_INLINE State of(T x, View) { return {x, T{1}}; }
    static EP_INLINE T base_of(T greatest) { return greatest - greatest == T{0} ? greatest : T{0}; }
    // e^x for x <= 0. A sum has a term of 1, so a term below the least is negligible, and none is denormal.
    static EP_INLINE T decayed(T x) {
        constexpr T least = sizeof(T) == 4 ? T(-86) : T(-708);
        const Scaled<T> e = exponential_scaled(at_least(x, least), T{0});
        return e.value * power_of_two(e.exponent);
    }
    static EP_INLINE State join(State a, State b) {
        const T greatest = larger(a.greatest, b.greatest), base = base_of(greatest);
        return {greatest, a.sum * decayed(a.greatest - base) + b.sum * decayed(b.greatest - base)};
    }
    static EP_INLINE State join(State state, T a, T b, T c, T d) {
        const T greatest = larger(state.greatest, larger(larger(a, b), larger(c, d))), base = base_of(greatest);
        const T pairs = (decayed(a - base) + decayed(b - base)) + (decayed(c - base) + decayed(d - base));
        return {greatest, state.sum * decayed(state.greatest - base) + pairs};
    }
};

// Whether windows are taken place by place: sums of integers in windows are rare.
template <class Op>
constexpr bool takes_windows = false;
template <class T>
constexpr bool takes_windows<Greatest<T>> = true;
template <class T>
constexpr bool takes_windows<GreatestKey<T>> = true;

// Whether any order of joining gives the same bits.
template <class Op>
constexpr bool is_order_free = takes_windows<Op>;
template <class T>
constexpr bool is_order_free<Sum<T>> = std::is_integral_v<T>;
template <class T>
constexpr bool is_order_free<Product<T>> = std::is_integral_v<T>;

// Whether an element may have two states: a complex number's parts are summed apart.
template <class Op>
constexpr bool may_have_parts = std::is_same_v<Op, Squares>;
template <class T>
constexpr bool may_have_parts<Sum<T>> = std::is_floating_point_v<T>;
