// The largest modulus of complex numbers, by its bits: they have the order of numbers that are not negative, and a NaN
// is beyond infinity.

EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(0);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
    return ep_state_of(EP_BITS_OF(EP_OF(modulus_of)(x.re, x.im)) & ~(EP_S)0 >> 1);
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    return ep_state_of(a.a > b.a ? a.a : b.a);
}
EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    return EP_OF_BITS(state.a);
}
