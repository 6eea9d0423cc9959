// The largest or the least element, by its order.

EP_FN ep_state ep_nothing(void) {
    return ep_state_of(EP_NOTHING);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i) {
    return ep_state_of(ep_order_of(x));
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    return ep_state_of(EP_IS_AHEAD(a.a, b.a) ? a.a : b.a);
}
EP_FN EP_R ep_leave(ep_state state, EP_FACTOR factor) {
    return ep_of_order(state.a);
}
