// The root of a sum of squares, in three parts: of small, usual and large elements, each scaled so that no square and
// no sum of 2^31 of them leaves the type (Blue, ACM TOMS 4, 1978). What is small or large stands in EP_SMALL..., powers
// of two. A NaN is usual.

EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(0, 0, 0);
}
EP_FN ep_state ep_square(EP_S x) {
    const EP_S size = EP_OF_BITS(EP_BITS_OF(x) & ~(EP_UNSIGNED)0 >> 1);
    const EP_S low = x * EP_SMALL_UP, high = x * EP_LARGE_DOWN;
    const bool is_small = size<EP_SMALL, is_large = size> EP_LARGE;
    return ep_state_of(is_small ? low * low : 0, is_small | is_large ? 0 : x * x, is_large ? high * high : 0);
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    return ep_state_of(a.a + b.a, a.b + b.b, a.c + b.c);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
#if EP_FROM_COMPLEX
    return ep_join(ep_square(x.re), ep_square(x.im));
#else
    return ep_square(x);
#endif
}

EP_FN EP_S ep_root(EP_S square) {
    return (EP_S)ep_sqrt((EP_ROUNDED)square);
}

// Beside large squares the small ones are nothing, beside usual ones but the least of these.
EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    if (state.c > 0) return ep_root(state.c + state.b * EP_LARGE_DOWN * EP_LARGE_DOWN) * EP_LARGE_UP;
    if (state.b < EP_NEGLIGIBLE) return ep_root(state.b * EP_SMALL_UP * EP_SMALL_UP + state.a) * EP_SMALL_DOWN;
    return ep_root(state.b);
}
