// One line an op: its value from x (and alpha), or from a and b (and alpha). Rows are in unary.def and binary.def.

#define EP_BODY1(op, expression)                                  \
    struct op_##op {                                              \
        template <class S>                                        \
        static EP_INLINE auto of(S x, [[maybe_unused]] S alpha) { \
            return expression;                                    \
        }                                                         \
    };
#define EP_BODY2(op, expression)                                       \
    struct op_##op {                                                   \
        template <class S>                                             \
        static EP_INLINE auto of(S a, S b, [[maybe_unused]] S alpha) { \
            return expression;                                         \
        }                                                              \
    };

EP_BODY1(abs, absolute(x))
EP_BODY1(bitwise_not, inverted(x))
EP_BODY1(elu, elu_of(x, alpha))
EP_BODY1(exp, exponential(x))
EP_BODY1(floor, floored(x))
EP_BODY1(gelu, gelu_of(x))
EP_BODY1(is_nan, x != x)
EP_BODY1(log, logarithm(x))
EP_BODY1(logical_not, x == S{0})
EP_BODY1(negative, negated(x))
EP_BODY1(relu, x <= S{0} ? S{0} : x)
EP_BODY1(sqrt, square_root(x))
EP_BODY1(tanh, hyperbolic_tangent(x))

EP_BODY2(add, sum(a, b))
EP_BODY2(bitwise_and, common_bits(a, b))
EP_BODY2(div, quotient(a, b))
EP_BODY2(elu_backward_with_dy_x, elu_slope(a, b, alpha))
EP_BODY2(equal, a == b)
EP_BODY2(gelu_backward_with_dy_x, gelu_slope(a, b))
EP_BODY2(less_than, less(a, b))
EP_BODY2(max, larger(a, b))
EP_BODY2(min, smaller(a, b))
EP_BODY2(mul, product(a, b))
EP_BODY2(sub, difference(a, b))
EP_BODY2(tanh_backward_with_dy_y, (a * (S{1} - b)) * (S{1} + b))

#undef EP_BODY1
#undef EP_BODY2
