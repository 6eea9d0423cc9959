// Factors of products and sums of them. EP_A is the type that factors are multiplied in, EP_PARTS 2 for complex
// numbers, which are two parts that lie side by side, and which kernels hold apart.

EP_FN ep_index ep_least(ep_index a, ep_index b) {
    return a < b ? a : b;
}
EP_FN EP_A ep_multiply_add(EP_A a, EP_A b, EP_A c) {
    EP_CONTRACTED
    return EP_FUSED(a, b, c);
}

// Declares a factor, by its place in a or b; then a sum of terms, s(0) and for complex numbers s(1), gets one more.
#if EP_PARTS == 2
#define EP_FACTOR_OF(x, name, place, conjugate)                                               \
    const EP_A x = EP_LOAD_##name(2 * (place)), x##_stored = EP_LOAD_##name(2 * (place) + 1); \
    const EP_A x##_im = (conjugate) ? -x##_stored : x##_stored;
#define EP_TERM_BY(multiply_add, s, x, y)                           \
    s(0) = multiply_add(-x##_im, y##_im, multiply_add(x, y, s(0))); \
    s(1) = multiply_add(x##_im, y, multiply_add(x, y##_im, s(1)));
#else
#define EP_FACTOR_OF(x, name, place, conjugate) const EP_A x = (EP_A)EP_LOAD_##name(place);
#define EP_TERM_BY(multiply_add, s, x, y) s(0) = multiply_add(x, y, s(0));
#endif
