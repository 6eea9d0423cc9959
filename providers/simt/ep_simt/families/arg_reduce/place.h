// The order of the best element and its number: of equal elements the first is best, and -0 equals +0.

EP_FN ep_state ep_nothing(void) {
    return ep_state_of(EP_LAST, EP_BEYOND);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i) {
#if EP_FLOATING
    return ep_state_of(ep_order_of(x + (EP_X)0), i);
#else
    return ep_state_of(ep_order_of(x), i);
#endif
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    const bool is_better = EP_IS_AHEAD(a.a, b.a) | ((a.a == b.a) & (a.b < b.b));
    return ep_state_of(is_better ? a.a : b.a, is_better ? a.b : b.b);
}
EP_FN EP_R ep_leave(ep_state state, EP_FACTOR factor) {
    return (EP_R)state.b;
}
