// The best element, by order, and its number: of equal elements the first is best, and -0 equals +0. A state of nothing
// has number 0, which is right where all are last in order.

EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(ep_last_in_order(lens), 0);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
#if EP_FLOATING
    return ep_state_of(ep_order_of((EP_X)((EP_S)x == EP_SIGN ? 0 : x), lens), i);
#else
    return ep_state_of(ep_order_of(x, lens), i);
#endif
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    const bool is_better = (a.a > b.a) | ((a.a == b.a) & (a.b < b.b));
    return ep_state_of(is_better ? a.a : b.a, is_better ? a.b : b.b);
}
// Each comes before the next in its row.
EP_FN ep_state ep_join_next(ep_state a, ep_state b) {
    const bool is_better = b.a > a.a;
    return ep_state_of(is_better ? b.a : a.a, is_better ? b.b : a.b);
}
EP_FN ep_state ep_join_four(ep_state state, ep_state a, ep_state b, ep_state c, ep_state d) {
    return ep_join_next(state, ep_join_next(ep_join_next(a, b), ep_join_next(c, d)));
}
EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    return (EP_R)state.b;
}
