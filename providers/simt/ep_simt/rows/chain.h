// Sums of many numbers of EP_C, in the order of fold.h. Complex numbers have a chain a part, of EP_PART.

#ifndef EP_PART
#define EP_PART EP_C
#endif

#define EP_PLUS(a, b) ((a) + (b))
EP_FOLD(ep_group_sum, EP_PART, EP_PLUS, EP_SHUFFLE)

// A sum and its rounding errors (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B): a chain of any
// length is as good as a short one.
typedef struct {
    EP_PART sum, lost;
} ep_chain;

EP_FN ep_chain ep_longer(ep_chain chain, EP_PART term) {
    const EP_PART sum = chain.sum + term, other = sum - chain.sum;
    chain.lost += (chain.sum - (sum - other)) + (term - other);
    chain.sum = sum;
    return chain;
}

// The chain's value; where an infinity came in, nothing was lost.
EP_FN EP_PART ep_chain_sum(ep_chain chain) {
    const EP_PART sum = chain.sum + chain.lost;
    return chain.lost == chain.lost ? sum : chain.sum;
}

// The sum of what EP_OWN_FOLD would join, by chains: EP_OWN_CHAINS declares them, EP_LENGTHEN_OWN(each, count, element)
// takes the elements in, and EP_OWN_SUM gives the sum. `each` stands before the loop over neighbours, which may be of
// any kind.
#define EP_OWN_CHAINS                        \
    EP_PART own[EP_CHAINS], lost[EP_CHAINS]; \
    ep_chain longer;                         \
    EP_INDEPENDENT                           \
    for (int chain = 0; chain < EP_CHAINS; ++chain) own[chain] = 0, lost[chain] = 0;
#define EP_LENGTHEN_OWN(each, count, element)                                                                        \
    {                                                                                                                \
        const ep_index own_step = EP_CHAINS * EP_GROUP, own_end = (count), own_whole = own_end - own_end % own_step; \
        for (ep_index own_at = EP_LOCAL_ID(x); own_at < own_whole; own_at += own_step) {                             \
            each for (int chain = 0; chain < EP_CHAINS; ++chain) EP_LENGTHEN(element(own_at + chain * EP_GROUP))     \
        }                                                                                                            \
        EP_ROLLED                                                                                                    \
        for (int chain = 0; chain < EP_CHAINS; ++chain) {                                                            \
            const ep_index own_at = EP_LOCAL_ID(x) + chain * EP_GROUP;                                               \
            if (own_at < own_end - own_whole) EP_LENGTHEN(element(own_whole + own_at))                               \
        }                                                                                                            \
    }
#define EP_OWN_SUM(result)                                  \
    EP_INDEPENDENT                                          \
    for (int chain = 0; chain < EP_CHAINS; ++chain) {       \
        longer.sum = own[chain], longer.lost = lost[chain]; \
        own[chain] = ep_chain_sum(longer);                  \
    }                                                       \
    EP_HALVE(own, EP_PLUS)                                  \
    result = own[0];
#define EP_LENGTHEN(term)                                   \
    {                                                       \
        longer.sum = own[chain], longer.lost = lost[chain]; \
        longer = ep_longer(longer, term);                   \
        own[chain] = longer.sum, lost[chain] = longer.lost; \
    }
