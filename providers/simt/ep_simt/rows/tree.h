// Sums of many numbers in a fixed order: EP_GROUP work-items, a power of two, add chains and meet in a tree.

// A sum and its rounding errors (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B): a chain of any
// length is as good as a short one.
typedef struct {
    EP_C sum, lost;
} ep_chain;

EP_FN ep_chain ep_longer(ep_chain chain, EP_C term) {
    const EP_C sum = chain.sum + term, other = sum - chain.sum;
    chain.lost += (chain.sum - (sum - other)) + (term - other);
    chain.sum = sum;
    return chain;
}

// The chain's value; where an infinity came in, nothing was lost.
EP_FN EP_C ep_chain_sum(ep_chain chain) {
    const EP_C sum = chain.sum + chain.lost;
    return chain.lost == chain.lost ? sum : chain.sum;
}

// The sum over all work-items of a group; each of them gets it.
EP_FN EP_C ep_group_sum(EP_SHARED_PTR(EP_C) cells, EP_C own) {
    const int lane = EP_LOCAL_ID(x);
    cells[lane] = own;
    EP_BARRIER();
    for (int reach = EP_GROUP / 2; reach > 0; reach /= 2) {
        if (lane < reach) cells[lane] += cells[lane + reach];
        EP_BARRIER();
    }
    const EP_C sum = cells[0];
    EP_BARRIER();
    return sum;
}
