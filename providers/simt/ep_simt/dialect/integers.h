// Division, shifts and powers of integers, for the compute type EP_C: x / 0 = 0, x mod 0 = x, MIN / -1 = MIN, nothing
// traps. EP_IS_SIGNED says whether the type is.

#define EP_BITS_OF_TYPE ((int)(8 * sizeof(EP_C)))

#if EP_DIVIDES_FLOATS
// No vector unit divides integers. The quotient as an EP_QUOTIENT, rounded once, is far enough from the next integer to
// truncate right.
EP_FN EP_C ep_quotient(EP_C a, EP_C b) {
    const bool is_opposite = EP_IS_SIGNED ? b == (EP_C)-1 : false, is_ordinary = (b != 0) & !is_opposite;
    const EP_QUOTIENT quotient = (EP_QUOTIENT)a / (EP_QUOTIENT)(is_ordinary ? b : (EP_C)1);
    return is_ordinary ? (EP_C)(EP_TRUNCATED)quotient : is_opposite ? EP_WRAP(0, -, a) : (EP_C)0;
}
#else
EP_FN EP_C ep_quotient(EP_C a, EP_C b) {
#if EP_IS_SIGNED
    if (b == -1) return EP_WRAP(0, -, a);
#endif
    return b == 0 ? (EP_C)0 : (EP_C)(a / b);
}
#endif
EP_FN EP_C ep_remainder(EP_C a, EP_C b) {
    return EP_WRAP(a, -, EP_WRAP(ep_quotient(a, b), *, b));
}

// Where the quotient rounds down, not towards zero: the remainder has another sign than the divisor.
EP_FN bool ep_is_below(EP_C rest, EP_C b) {
    return (rest != 0) & ((rest < 0) != (b < 0)) & (b != 0);
}
EP_FN EP_C ep_floored_quotient(EP_C a, EP_C b) {
    const EP_C whole = ep_quotient(a, b), rest = ep_remainder(a, b);
    return ep_is_below(rest, b) ? EP_WRAP(whole, -, 1) : whole;
}
EP_FN EP_C ep_floored_remainder(EP_C a, EP_C b) {
    const EP_C rest = ep_remainder(a, b);
    return ep_is_below(rest, b) ? EP_WRAP(rest, +, b) : rest;
}

// a 2^b and floor(a / 2^b): a count outside the bits of the type shifts all of them out.
EP_FN EP_C ep_shifted_left(EP_C a, EP_C b) {
    const bool is_inside = (b >= 0) & (b < EP_BITS_OF_TYPE);
    return is_inside ? EP_WRAP(a, <<, b & (EP_BITS_OF_TYPE - 1)) : (EP_C)0;
}
EP_FN EP_C ep_shifted_right(EP_C a, EP_C b) {
    const bool is_inside = (b >= 0) & (b < EP_BITS_OF_TYPE);
    const EP_C all = a < 0 ? EP_WRAP(0, -, 1) : (EP_C)0;
    return is_inside ? (EP_C)(a >> (b & (EP_BITS_OF_TYPE - 1))) : all;
}

// Square and multiply; of a negative exponent the inverse, which is 0 but for 1 and -1.
EP_FN EP_C ep_integer_power(EP_C base, EP_C exponent) {
    if (exponent < 0) return base == 1 ? (EP_C)1 : EP_WRAP(base, +, 1) != 0 ? (EP_C)0 : exponent & 1 ? base : (EP_C)1;
    EP_C value = 1, square = base;
    for (EP_C left = exponent; left != 0; left >>= 1) {
        if (left & 1) value = EP_WRAP(value, *, square);
        square = EP_WRAP(square, *, square);
    }
    return value;
}

// |a - b| <= absolute + relative |b| in double; the distance is exact before it becomes a double.
#if EP_HAS_F64
EP_FN bool ep_is_close_f64(EP_C a, EP_C b, ep_f64 absolute, ep_f64 relative) {
    const ep_u64 wide_a = (ep_u64)a, wide_b = (ep_u64)b;
    const ep_f64 apart = (ep_f64)(a > b ? wide_a - wide_b : wide_b - wide_a);
    return (a == b) | (apart <= absolute + relative * ep_abs((ep_f64)b));
}
#endif
