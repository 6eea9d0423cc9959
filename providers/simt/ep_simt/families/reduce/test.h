// Whether some element is true, or none is false: what is not 0.

#if EP_FROM_COMPLEX
#define EP_IS_SET(x) (((x).re != 0) | ((x).im != 0))
#else
#define EP_IS_SET(x) ((x) != 0)
#endif

EP_FN ep_state ep_nothing(void) {
    return ep_state_of(EP_ALL);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i) {
    return ep_state_of((EP_S)(EP_IS_SET(x)));
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    return ep_state_of((EP_S)(EP_ALL ? a.a & b.a : a.a | b.a));
}
EP_FN EP_R ep_leave(ep_state state, EP_FACTOR factor) {
    return (EP_R)state.a;
}
