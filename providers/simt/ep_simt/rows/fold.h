// Folds: what a work-item makes of its own elements, and what EP_GROUP work-items, a power of two, make of theirs. The
// order depends on nothing but the number of elements, EP_CHAINS, EP_GROUP and the size of a subgroup, so that bits are
// equal each time.

// EP_FOLD(name, T, join, shuffle) defines `T name(cells, own)`: what a group's work-items have, joined, for each of
// them; and `T name_of(cells, own, span)`: the same for `span` neighbours each, a power of two. All of a group call it;
// `cells` holds EP_GROUP of T. `join` is commutative, and `shuffle` is EP_SHUFFLE, or T's own. A group of one
// joins nothing.
#if EP_GROUP == 1
#define EP_FOLD(name, T, join, shuffle)                          \
    EP_FN T name##_of(EP_SHARED_PTR(T) cells, T own, int span) { \
        return own;                                              \
    }                                                            \
    EP_FN T name(EP_SHARED_PTR(T) cells, T own) {                \
        return own;                                              \
    }
#elif EP_SUBGROUPS
// First within subgroups, which need no barrier; then each work-item joins what the subgroups of its span have. What is
// shuffled has a name: `join` may be a macro that mentions it twice, under a condition that keeps some work-items away.
#define EP_FOLD(name, T, join, shuffle)                                                       \
    EP_FN T name##_of(EP_SHARED_PTR(T) cells, T own, int span) {                              \
        const int size = EP_SUBGROUP_SIZE(), lane = EP_SUBGROUP_LANE(), each = span / size;   \
        for (int reach = (each > 0 ? size : span) / 2; reach > 0; reach /= 2) {               \
            const T other = shuffle(own, lane ^ reach);                                       \
            own = join(own, other);                                                           \
        }                                                                                     \
        if (each > 1) {                                                                       \
            const int first = EP_SUBGROUP_ID() / each * each;                                 \
            if (lane == 0) cells[EP_SUBGROUP_ID()] = own;                                     \
            EP_BARRIER();                                                                     \
            own = cells[first];                                                               \
            for (int other = 1; other < each; ++other) own = join(own, cells[first + other]); \
            EP_BARRIER();                                                                     \
        }                                                                                     \
        return own;                                                                           \
    }                                                                                         \
    EP_FN T name(EP_SHARED_PTR(T) cells, T own) {                                             \
        return name##_of(cells, own, EP_GROUP);                                               \
    }
#else
#define EP_FOLD(name, T, join, shuffle)                                              \
    EP_FN T name##_of(EP_SHARED_PTR(T) cells, T own, int span) {                     \
        const int lane = EP_LOCAL_ID(x), place = lane & (span - 1);                  \
        cells[lane] = own;                                                           \
        EP_BARRIER();                                                                \
        for (int reach = span / 2; reach > 0; reach /= 2) {                          \
            if (place < reach) cells[lane] = join(cells[lane], cells[lane + reach]); \
            EP_BARRIER();                                                            \
        }                                                                            \
        own = cells[lane - place];                                                   \
        EP_BARRIER();                                                                \
        return own;                                                                  \
    }                                                                                \
    EP_FN T name(EP_SHARED_PTR(T) cells, T own) {                                    \
        return name##_of(cells, own, EP_GROUP);                                      \
    }
#endif

// EP_OWN_FOLD(result, T, nothing, join, count, element) declares `T result`: element(i) for each i < count that is this
// work-item's, joined. `nothing` changes no element. Work-item k has k, k + EP_GROUP, ...: neighbours read together
// where a group has many; a group of one has EP_CHAINS neighbours side by side, which become vectors.
#define EP_OWN_FOLD(result, T, nothing, join, count, element)                                                        \
    T result;                                                                                                        \
    {                                                                                                                \
        const ep_index own_step = EP_CHAINS * EP_GROUP, own_end = (count), own_whole = own_end - own_end % own_step; \
        T own[EP_CHAINS];                                                                                            \
        EP_INDEPENDENT                                                                                               \
        for (int chain = 0; chain < EP_CHAINS; ++chain) own[chain] = nothing;                                        \
        for (ep_index own_at = EP_LOCAL_ID(x); own_at < own_whole; own_at += own_step) {                             \
            EP_INDEPENDENT                                                                                           \
            for (int chain = 0; chain < EP_CHAINS; ++chain)                                                          \
                own[chain] = join(own[chain], element(own_at + chain * EP_GROUP));                                   \
        }                                                                                                            \
        for (int chain = 0; chain < EP_CHAINS; ++chain) {                                                            \
            const ep_index own_at = EP_LOCAL_ID(x) + chain * EP_GROUP;                                               \
            if (own_at < own_end - own_whole) own[chain] = join(own[chain], element(own_whole + own_at));            \
        }                                                                                                            \
        EP_HALVE(own, join)                                                                                          \
        result = own[0];                                                                                             \
    }
#define EP_HALVE(own, join)                                                                            \
    for (int reach = EP_CHAINS / 2; reach > 0; reach /= 2) {                                           \
        EP_INDEPENDENT                                                                                 \
        for (int chain = 0; chain < reach; ++chain) own[chain] = join(own[chain], own[chain + reach]); \
    }
