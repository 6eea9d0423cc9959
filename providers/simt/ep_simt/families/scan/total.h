// A total that grows by one element after another: sums of floats keep their rounding errors, since a row may be long,
// unless they are made in a wider type.
#if EP_CHAINED && EP_FROM_COMPLEX
typedef struct {
    ep_chain re, im;
} ep_total;
EP_FN ep_total ep_longer_total(ep_total total, EP_C element) {
    total.re = ep_longer(total.re, element.re), total.im = ep_longer(total.im, element.im);
    return total;
}
EP_FN EP_C ep_total_value(ep_total total) {
    EP_C value;
    value.re = ep_chain_sum(total.re), value.im = ep_chain_sum(total.im);
    return value;
}
#define EP_TOTAL(total, value) \
    total.re.sum = (value).re, total.im.sum = (value).im, total.re.lost = 0, total.im.lost = 0
#define EP_LONGER(total, element) total = ep_longer_total(total, element)
#define EP_VALUE(total) ep_total_value(total)
#elif EP_CHAINED
typedef ep_chain ep_total;
#define EP_TOTAL(total, value) total.sum = value, total.lost = 0
#define EP_LONGER(total, element) total = ep_longer(total, element)
#define EP_VALUE(total) ep_chain_sum(total)
#else
typedef EP_JOINED_IN ep_total;
#define EP_TOTAL(total, value) total = value
#define EP_LONGER(total, element) total = EP_JOIN(total, element)
#define EP_VALUE(total) ((EP_C)(total))
#endif
