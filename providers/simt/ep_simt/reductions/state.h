// What is known of some elements of a row: EP_PARTS numbers, one to three. A family's text has ep_nothing(lens), of no
// element; ep_enter(x, i, lens), of element number i; ep_join(a, b), of both, and perhaps ep_join_four; and
// ep_leave(state, lens), the result.

// What a launch says of how elements enter: bits that are kept, and flipped; and a factor of results.
typedef struct {
    ep_u64 keep, flip;
    EP_FACTOR factor;
} ep_lens;

#if EP_PARTS == 1
typedef struct {
    EP_S a;
} ep_state;
EP_FN ep_state ep_state_of(EP_S a) {
    ep_state state;
    state.a = a;
    return state;
}
#elif EP_PARTS == 2
typedef struct {
    EP_S a;
    EP_B b;
} ep_state;
EP_FN ep_state ep_state_of(EP_S a, EP_B b) {
    ep_state state;
    state.a = a, state.b = b;
    return state;
}
#else
typedef struct {
    EP_S a;
    EP_B b;
    EP_S c, unused;
} ep_state;
EP_FN ep_state ep_state_of(EP_S a, EP_B b, EP_S c) {
    ep_state state;
    state.a = a, state.b = b, state.c = c;
    return state;
}
#endif

// States side by side, an array for each part, so that loops over them become vectors; and the state of a neighbour.
#if EP_PARTS == 1
#define EP_STATES(n) EP_S own_a[n];
#define EP_GET(i) ep_state_of(own_a[i])
#define EP_PUT(i, state) own_a[i] = (state).a;
#define EP_SHUFFLE_STATE(state, lane) ep_state_of(EP_SHUFFLE((state).a, lane))
#elif EP_PARTS == 2
#define EP_STATES(n) \
    EP_S own_a[n];   \
    EP_B own_b[n];
#define EP_GET(i) ep_state_of(own_a[i], own_b[i])
#define EP_PUT(i, state)                    \
    {                                       \
        const ep_state put = state;         \
        own_a[i] = put.a, own_b[i] = put.b; \
    }
#define EP_SHUFFLE_STATE(state, lane) ep_state_of(EP_SHUFFLE((state).a, lane), EP_SHUFFLE((state).b, lane))
#else
#define EP_STATES(n)         \
    EP_S own_a[n], own_c[n]; \
    EP_B own_b[n];
#define EP_GET(i) ep_state_of(own_a[i], own_b[i], own_c[i])
#define EP_PUT(i, state)                                      \
    {                                                         \
        const ep_state put = state;                           \
        own_a[i] = put.a, own_b[i] = put.b, own_c[i] = put.c; \
    }
#define EP_SHUFFLE_STATE(state, lane) \
    ep_state_of(EP_SHUFFLE((state).a, lane), EP_SHUFFLE((state).b, lane), EP_SHUFFLE((state).c, lane))
#endif
