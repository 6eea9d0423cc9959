// Elements as integers of their order, which compilers compare in vectors: -0 is less than +0, and a NaN is ahead of
// everything, whether the largest or the least is sought.

#define EP_MOST ((EP_S)((EP_UNSIGNED) ~(EP_UNSIGNED)0 >> EP_IS_SIGNED))
#define EP_LEAST ((EP_S)(EP_IS_SIGNED ? -EP_MOST - 1 : 0))
#if EP_SEEKS_LEAST
#define EP_FIRST EP_LEAST
#define EP_LAST EP_MOST
#define EP_IS_AHEAD(a, b) ((a) < (b))
#else
#define EP_FIRST EP_MOST
#define EP_LAST EP_LEAST
#define EP_IS_AHEAD(a, b) ((a) > (b))
#endif

#if EP_FLOATING
EP_FN EP_S ep_ordered(EP_S bits) {
    return bits ^ (bits >> (8 * (int)sizeof(EP_S) - 1) & EP_MOST);
}
EP_FN EP_S ep_order_of(EP_X x) {
    return x == x ? ep_ordered((EP_S)EP_BITS_OF(x)) : EP_FIRST;
}
EP_FN EP_X ep_of_order(EP_S order) {
    return EP_OF_BITS((EP_UNSIGNED)ep_ordered(order));
}
#define EP_NOTHING (ep_ordered((EP_S)EP_BITS_OF(EP_SEEKS_LEAST ? (EP_X)EP_INF : -(EP_X)EP_INF)))
#else
EP_FN EP_S ep_order_of(EP_X x) {
    return (EP_S)x;
}
EP_FN EP_X ep_of_order(EP_S order) {
    return (EP_X)order;
}
#define EP_NOTHING EP_LAST
#endif
