// Elements by their bits, EP_BITS of them, as unsigned integers of their order, which compilers compare in vectors.
// Bits are masked by `keep` and inverted by `flip`: integers keep all, signed ones flip their first bit; the least
// element is the largest with all bits flipped. Floats have -0 below +0, and a NaN beyond everything; `keep` is
// infinity's bits then.

#define EP_EVERY ((EP_S)((EP_S) ~(EP_S)0 >> (8 * (int)sizeof(EP_S) - EP_BITS)))
#define EP_SIGN ((EP_S)((EP_S)1 << (EP_BITS - 1)))

#if EP_FLOATING
EP_FN EP_S ep_order_of(EP_X x, ep_lens lens) {
    const EP_S bits = (EP_S)x, size = (EP_S)(bits & ~EP_SIGN);
    const EP_S order = (EP_S)(bits & EP_SIGN ? bits ^ EP_EVERY : bits | EP_SIGN);
    return size > (EP_S)lens.keep ? EP_EVERY : (EP_S)(order ^ (EP_S)lens.flip);
}
EP_FN EP_S ep_of_order(EP_S key, ep_lens lens) {
    const EP_S order = (EP_S)(key ^ (EP_S)lens.flip);
    return (EP_S)(order & EP_SIGN ? order ^ EP_SIGN : order ^ EP_EVERY);
}
// -infinity, or +infinity where the least is sought.
EP_FN EP_S ep_last_in_order(ep_lens lens) {
    return (EP_S)(((EP_S)lens.keep | EP_SIGN) ^ EP_EVERY);
}
#else
EP_FN EP_S ep_order_of(EP_X x, ep_lens lens) {
    return (EP_S)(((EP_S)x & (EP_S)lens.keep) ^ (EP_S)lens.flip);
}
EP_FN EP_S ep_of_order(EP_S key, ep_lens lens) {
    return (EP_S)(key ^ (EP_S)lens.flip);
}
EP_FN EP_S ep_last_in_order(ep_lens lens) {
    return 0;
}
#endif
