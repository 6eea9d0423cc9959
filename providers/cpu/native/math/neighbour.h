// The next number of a type in a direction, also of a type that is computed in a wider one.
#pragma once

// The numbers of a type among T's: `step` bit patterns of T apart; up to `dense` around 0, the least number apart.
template <class T>
struct Numbers {
    static constexpr typename Float<T>::Bits step = 1;
    static constexpr T least = std::numeric_limits<T>::denorm_min(), dense = least;
    static constexpr T greatest = std::numeric_limits<T>::max();
};
struct HalfNumbers {
    static constexpr uint32_t step = 1U << 13;
    static constexpr float least = 5.9604644775390625e-08F, dense = 6.103515625e-05F, greatest = 65504.0F;
};
struct BFloatNumbers {
    static constexpr uint32_t step = 1U << 16;
    static constexpr float least = 9.183549615799121e-41F, dense = least, greatest = 3.3895313892515355e+38F;
};

// C's nextafter: b where both are equal. Beyond the greatest number comes one that is rounded to infinity.
template <class N, class T>
EP_INLINE T neighbour(T a, T b) {
    const T size = absolute_of(a);
    const bool grows = (size == T{0}) | ((a < b) == (a > T{0}));
    const T up = of_bits<T>(bits_of(size) + N::step), down = at_most(of_bits<T>(bits_of(size) - N::step), N::greatest);
    const T above = size < N::dense ? size + N::least : up, below = size <= N::dense ? size - N::least : down;
    const T next = with_sign_of(grows ? above : below, size == T{0} ? b : a);
    const T moved = a == b ? b : next;
    return (a != a) | (b != b) ? a + b : moved;
}
