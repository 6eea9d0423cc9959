// The order of the best element and its number: of equal elements the first is best, and -0 equals +0. Number 0 is
// right for rows of nothing but the last in order, and for no others.

EP_FN ep_state ep_nothing(void) {
    return ep_state_of(EP_LAST, 0);
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
// Each comes before the next in its row.
EP_FN ep_state ep_join_next(ep_state a, ep_state b) {
    const bool is_better = EP_IS_AHEAD(b.a, a.a);
    return ep_state_of(is_better ? b.a : a.a, is_better ? b.b : a.b);
}
EP_FN ep_state ep_join_four(ep_state state, ep_state a, ep_state b, ep_state c, ep_state d) {
    return ep_join_next(state, ep_join_next(ep_join_next(a, b), ep_join_next(c, d)));
}
EP_FN EP_R ep_leave(ep_state state, EP_FACTOR factor) {
    return (EP_R)state.b;
}
