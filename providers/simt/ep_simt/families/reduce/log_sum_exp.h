// The largest element, and the sum of e^(x - it). Where the largest is not finite, the sum means nothing.

EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(-(EP_S)EP_INF, 0);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
    return ep_state_of(x, 1);
}
EP_FN EP_S ep_larger(EP_S a, EP_S b) {
    return EP_OF(ep_max)(a, b);
}
EP_FN EP_S ep_base_of(EP_S largest) {
    return largest - largest == 0 ? largest : 0;
}
EP_FN EP_S ep_share(ep_state state, EP_S base) {
    return state.b * EP_OF(exponential)(state.a - base);
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    const EP_S largest = ep_larger(a.a, b.a), base = ep_base_of(largest);
    return ep_state_of(largest, ep_share(a, base) + ep_share(b, base));
}
EP_FN ep_state ep_join_four(ep_state state, ep_state a, ep_state b, ep_state c, ep_state d) {
    const EP_S largest = ep_larger(state.a, ep_larger(ep_larger(a.a, b.a), ep_larger(c.a, d.a)));
    const EP_S base = ep_base_of(largest);
    const EP_S pairs = (ep_share(a, base) + ep_share(b, base)) + (ep_share(c, base) + ep_share(d, base));
    return ep_state_of(largest, ep_share(state, base) + pairs);
}
EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    return state.a - state.a == 0 ? state.a + EP_OF(logarithm)(state.b) : state.a;
}
