// Sums of rows that a work-item takes at a time, of row `r` in its loop: EP_LENGTHEN_ROW adds an element to one, and
// declares the sum `before` and its `value` now; EP_VALUE_OF_ROW is the value.
#if EP_CHAINED
#define EP_SUMS(n) EP_C sums[n], lost[n];
#define EP_BEGIN_ROW(value) sums[r] = value, lost[r] = 0
#define EP_LENGTHEN_ROW(element)               \
    ep_chain chain;                            \
    chain.sum = sums[r], chain.lost = lost[r]; \
    const EP_C before = ep_chain_sum(chain);   \
    chain = ep_longer(chain, element);         \
    sums[r] = chain.sum, lost[r] = chain.lost; \
    const EP_C value = ep_chain_sum(chain);
#define EP_VALUE_OF_ROW ep_sum_of(sums[r], lost[r])
#if !EP_FROM_COMPLEX
EP_FN EP_C ep_sum_of(EP_C sum, EP_C lost) {
    ep_chain chain;
    chain.sum = sum, chain.lost = lost;
    return ep_chain_sum(chain);
}
#endif
#else
#define EP_SUMS(n) ep_total sums[n];
#define EP_BEGIN_ROW(value) sums[r] = value
#define EP_LENGTHEN_ROW(element)           \
    const EP_C before = EP_VALUE(sums[r]); \
    sums[r] = EP_JOIN(sums[r], element);   \
    const EP_C value = EP_VALUE(sums[r]);
#define EP_VALUE_OF_ROW EP_VALUE(sums[r])
#endif
