// Whether some element is true: has a bit of `keep`, which a NaN has, and a zero of either sign has not. Or whether
// none is false, where `flip` is 1.

#if EP_BITS == 128
#define EP_KEPT(x) (((x).low | (x).high) & lens.keep)
#else
#define EP_KEPT(x) ((x) & (EP_X)lens.keep)
#endif

EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(0);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
    return ep_state_of((EP_S)((EP_S)(EP_KEPT(x) != 0) ^ (EP_S)lens.flip));
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    return ep_state_of((EP_S)(a.a | b.a));
}
EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    return (EP_R)(state.a ^ (EP_S)lens.flip);
}
