// Products, of integers modulo 2^bits.

#if EP_PARTS == 2
EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(1, 0);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
    return ep_state_of(x.re, x.im);
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    return ep_state_of(a.a * b.a - a.b * b.b, a.a * b.b + a.b * b.a);
}
EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    EP_R z;
    z.re = state.a, z.im = state.b;
    return z;
}
#else
EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(1);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
    return ep_state_of((EP_S)x);
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    return ep_state_of(a.a * b.a);
}
EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    return (EP_R)state.a;
}
#endif
