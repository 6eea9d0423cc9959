// The state of each row, from pieces. A piece is `length` elements of one of the row's runs, which are cut into `cuts`,
// or `runs` whole ones; a row of one piece leaves its result in out, others leave states for reduce_states. Where a
// run's elements are neighbours, `span` work-items take a piece of a row: reduce_rows. Elsewhere a work-item takes a
// piece of each of up to EP_TILE rows, which are neighbours: reduce_columns. So the order in which elements are joined
// depends on the extents and strides of a row alone. Columns of the geometry: x, out.

#if EP_GROUP == 1
#define EP_SPAN 1
#else
#define EP_SPAN span
#endif

// Eight elements meet before they join the state, as compilers that reorder sums would have it: Intel's does.
#if EP_JOINS_FOUR == 0
EP_FN ep_state ep_join_four(ep_state state, ep_state a, ep_state b, ep_state c, ep_state d) {
    return ep_join(state, ep_join(ep_join(a, b), ep_join(c, d)));
}
#define EP_JOIN_EIGHT(state, a, b, c, d, e, f, g, h) \
    ep_join_four(state, ep_join(a, b), ep_join(c, d), ep_join(e, f), ep_join(g, h))
#else
#define EP_JOIN_EIGHT(state, a, b, c, d, e, f, g, h) ep_join_four(ep_join_four(state, a, b, c, d), e, f, g, h)
#endif
EP_FOLD(ep_group_join, ep_state, ep_join, EP_SHUFFLE_STATE)

// n elements of a run, from `start` on, into EP_LANES states of each of `span` work-items, four at a time. One of both
// is 1.
#define EP_TAKE_ALONG(start, n, element)                                                                          \
    {                                                                                                             \
        const ep_index unit = EP_LANES * EP_SPAN;                                                                 \
        ep_index i = start;                                                                                       \
        for (; i + 4 * unit <= n; i += 4 * unit) {                                                                \
            EP_INDEPENDENT                                                                                        \
            for (int k = 0; k < EP_LANES; ++k) {                                                                  \
                const ep_index at = i + k * EP_SPAN + lane;                                                       \
                EP_PUT(k, ep_join_four(EP_GET(k), element(at), element(at + unit), element(at + 2 * unit),        \
                                       element(at + 3 * unit)))                                                   \
            }                                                                                                     \
        }                                                                                                         \
        for (; i + unit <= n; i += unit) {                                                                        \
            EP_INDEPENDENT                                                                                        \
            for (int k = 0; k < EP_LANES; ++k) EP_PUT(k, ep_join(EP_GET(k), element(i + k * EP_SPAN + lane)))     \
        }                                                                                                         \
        const int rest = EP_LANES == 1 ? i + lane < n : (int)(n - i);                                             \
        EP_INDEPENDENT                                                                                            \
        for (int k = 0; k < rest; ++k) EP_PUT(k % EP_LANES, ep_join(EP_GET(k % EP_LANES), element(i + k + lane))) \
    }

// The states of a work-item become one, then those of `span` work-items.
#define EP_JOIN_LANES(state)                                                             \
    for (int reach = EP_LANES / 2; reach > 0; reach /= 2) {                              \
        EP_INDEPENDENT                                                                   \
        for (int k = 0; k < reach; ++k) EP_PUT(k, ep_join(EP_GET(k), EP_GET(k + reach))) \
    }                                                                                    \
    const ep_state state = ep_group_join_of(cells, EP_GET(0), EP_SPAN);

#define EP_LENS   \
    ep_lens lens; \
    lens.keep = keep, lens.flip = flip, lens.factor = factor;

#define EP_LANE                                                                                 \
    EP_LENS                                                                                     \
    const int lane = EP_LOCAL_ID(x) & (EP_SPAN - 1);                                            \
    const int jobs = EP_GROUP / (int)EP_SPAN, own_job = EP_LOCAL_ID(x) / (int)EP_SPAN;          \
    const ep_i64 job = EP_GROUP_ID(x) * jobs + own_job, row = pieces == 1 ? job : job / pieces; \
    const ep_i64 piece = job - row * pieces;                                                    \
    EP_STATES(EP_LANES)                                                                         \
    EP_INDEPENDENT                                                                              \
    for (int k = 0; k < EP_LANES; ++k) EP_PUT(k, ep_nothing(lens))

// The runs of a piece: the part of each that belongs to it begins `from` elements after x's first, and with element
// number `number` of the row.
#define EP_EACH_RUN(row_at, take)                                                                           \
    const ep_i64 number_of_runs = cuts == 1 ? piece : piece / cuts;                                         \
    const ep_index first = (ep_index)(number_of_runs * runs), left = (ep_index)outer - first;               \
    const ep_index end = left < runs ? (ep_index)outer : first + (ep_index)runs;                            \
    const ep_index begin = (ep_index)((piece - number_of_runs * cuts) * length);                            \
    const ep_index rest = rows.shape[0] - begin, n = rest < length ? rest : (ep_index)length;               \
    for (ep_index run = first; run < end; ++run) {                                                          \
        const ep_i64 from =                                                                                 \
            row_at + ep_place_across(&rows, 0, run, 1, rows.along - 1) + (ep_i64)begin * rows.stride[0][0]; \
        const ep_index number = run * rows.shape[0] + begin;                                                \
        take                                                                                                \
    }
