// The largest or the least element, or the largest |x|, by order.

EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(ep_last_in_order(lens));
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
    return ep_state_of(ep_order_of(x, lens));
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    return ep_state_of(a.a > b.a ? a.a : b.a);
}
EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    return ep_of_order(state.a, lens);
}
