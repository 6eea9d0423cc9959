// The best element, by order, and its number: of equal elements the first is best, and -0 equals +0. A state of nothing
// has number 0, which is right where all are last in order.

EP_FN ep_state ep_nothing(ep_lens lens) {
    return ep_state_of(ep_last_in_order(lens), 0);
}
EP_FN ep_state ep_enter(EP_X x, ep_index i, ep_lens lens) {
#if EP_FLOATING
    return ep_state_of(ep_order_of((EP_X)((EP_S)x == EP_SIGN ? 0 : x), lens), i);
#else
    return ep_state_of(ep_order_of(x, lens), i);
#endif
}
EP_FN ep_state ep_join(ep_state a, ep_state b) {
    const bool is_better = (a.a > b.a) | ((a.a == b.a) & (a.b < b.b));
    return ep_state_of(is_better ? a.a : b.a, is_better ? a.b : b.b);
}
// Each comes before the next in its row.
EP_FN ep_state ep_join_next(ep_state a, ep_state b) {
    const bool is_better = b.a > a.a;
    return ep_state_of(is_better ? b.a : a.a, is_better ? b.b : a.b);
}
EP_FN ep_state ep_join_four(ep_state state, ep_state a, ep_state b, ep_state c, ep_state d) {
    return ep_join_next(state, ep_join_next(ep_join_next(a, b), ep_join_next(c, d)));
}
EP_FN EP_S ep_better(EP_S a, EP_S b) {
    return a > b ? a : b;
}

// n neighbours of a work-item that is a loop of its own: the best of them first, without places, and where it is better
// than the state then its place, which is looked for by EP_LOOKED_AT elements.
#define EP_KEY_ALONG(i) ep_enter(EP_LOAD_x(from + (i)), 0, lens).a
#define EP_LOOKED_AT 64
#define EP_TAKE_ALONE                                                                                            \
    EP_S best[EP_LANES];                                                                                         \
    EP_INDEPENDENT                                                                                               \
    for (int k = 0; k < EP_LANES; ++k) best[k] = ep_last_in_order(lens);                                         \
    ep_index i = 0;                                                                                              \
    for (; i + 4 * EP_LANES <= n; i += 4 * EP_LANES) {                                                           \
        EP_INDEPENDENT                                                                                           \
        for (int k = 0; k < EP_LANES; ++k) {                                                                     \
            const EP_S first = ep_better(EP_KEY_ALONG(i + k), EP_KEY_ALONG(i + k + EP_LANES));                   \
            const EP_S last = ep_better(EP_KEY_ALONG(i + k + 2 * EP_LANES), EP_KEY_ALONG(i + k + 3 * EP_LANES)); \
            best[k] = ep_better(best[k], ep_better(first, last));                                                \
        }                                                                                                        \
    }                                                                                                            \
    for (; i < n; i += EP_LANES) {                                                                               \
        const int rest = n - i < EP_LANES ? (int)(n - i) : EP_LANES;                                             \
        EP_INDEPENDENT                                                                                           \
        for (int k = 0; k < rest; ++k) best[k] = ep_better(best[k], EP_KEY_ALONG(i + k));                        \
    }                                                                                                            \
    for (int reach = EP_LANES / 2; reach > 0; reach /= 2) {                                                      \
        EP_INDEPENDENT                                                                                           \
        for (int k = 0; k < reach; ++k) best[k] = ep_better(best[k], best[k + reach]);                           \
    }                                                                                                            \
    if (best[0] > own_a[0]) {                                                                                    \
        const EP_S most = best[0];                                                                               \
        ep_index place = 0;                                                                                      \
        for (; place + EP_LOOKED_AT <= n; place += EP_LOOKED_AT) {                                               \
            int is_there = 0;                                                                                    \
            EP_INDEPENDENT                                                                                       \
            for (int k = 0; k < EP_LOOKED_AT; ++k) is_there |= EP_KEY_ALONG(place + k) == most;                  \
            if (is_there != 0) break;                                                                            \
        }                                                                                                        \
        EP_ROLLED                                                                                                \
        while (EP_KEY_ALONG(place) != most) ++place;                                                             \
        own_a[0] = most, own_b[0] = (EP_B)(number + place);                                                      \
    }

EP_FN EP_R ep_leave(ep_state state, ep_lens lens) {
    return (EP_R)state.b;
}
