// The constants of one type as members, for templates.
template <>
struct Float<EP_T> {
    using Bits = EP_U;
    static constexpr int fraction = EP_FRACTION, bias = EP_BIAS;
    static constexpr EP_T integer_magic = EP_WHOLE;
    static constexpr Bits upper_half = EP_UPPER_HALF;
    static constexpr EP_T ln2_high = EP_LN2_HIGH, ln2_low = EP_LN2_LOW;
    static constexpr EP_T linear = EP_LINEAR;
    static constexpr EP_T half_pi_high = EP_HALF_PI_HIGH, half_pi_low = EP_HALF_PI_LOW;
    static constexpr EP_T square_high = EP_SQUARE_HIGH;
    static constexpr EP_T tiny = EP_TINY, tiny_scale = EP_TINY_SCALE, tiny_exponent = EP_TINY_EXPONENT;
};
template <>
struct Exponential<EP_T> {
    static constexpr EP_T spare = EP_SPARE, low = EP_LOW, high = EP_HIGH;
    static EP_INLINE EP_T tail(EP_T r);
};
