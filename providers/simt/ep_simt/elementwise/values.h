// What a row stores: EP_VALUE_OF(form, a, b), for each element; a family with one operand has no b. A row of one
// formula has it in every form. One of three, EP_STEPPED(is_long, brief, value), has elements that take their time:
// where none of a run is a long one, `brief` is `value`, and a loop without branches.

#define EP_WHETHER 0
#define EP_BRIEFLY 1
#define EP_FULLY 2
#define EP_STEPPED(is_long, brief, value) \
    (form == EP_WHETHER ? (EP_R)(is_long) : form == EP_BRIEFLY ? (EP_R)(brief) : (EP_R)(value))

#if EP_IS_STEPPED
#define EP_VALUES(EACH, PUT, a, b)                    \
    int longs = 0;                                    \
    EACH(longs |= EP_VALUE_OF(EP_WHETHER, a, b) != 0) \
    if (longs != 0) {                                 \
        EACH(PUT(EP_VALUE_OF(EP_FULLY, a, b)))        \
    } else {                                          \
        EACH(PUT(EP_VALUE_OF(EP_BRIEFLY, a, b)))      \
    }
#else
#define EP_VALUES(EACH, PUT, a, b) EACH(PUT(EP_VALUE_OF(EP_FULLY, a, b)))
#endif

// Where neighbours fetch together, a work-item fetches all of its operands before it stores: the compiler cannot, as
// out may be one of them, and one operand at a time leaves the memory idle.
#if EP_SPREAD > 1
#define EP_VALUES_OF_RUN(form, k, EACH, a, b)              \
    EP_C held_a[EP_SPREAD], held_b[EP_SPREAD];             \
    EP_R made[EP_SPREAD];                                  \
    EP_HOLD_ALL(form, EACH, EP_HOLD(a, b))                 \
    EP_VALUES(EP_EACH_HELD, EP_MAKE, held_a[i], held_b[i]) \
    EP_PUT_ALL(out, k, EACH, EP_PUT(made[i]))
#define EP_EACH_HELD(statement)           \
    EP_UNROLLED                           \
    for (int i = 0; i < EP_SPREAD; ++i) { \
        statement;                        \
    }
#define EP_MAKE(value) made[i] = value

#define EP_VALUES_DENSE(form, k, a, b) \
    EP_PACKS_DENSE(form)               \
    EP_VALUES_OF_RUN(form, k, EP_EACH_SPREAD, a, b)
#define EP_VALUES_STRIDED(form, k, WHERE_NEIGHBOURS, a, b) \
    EP_PACKS_STRIDED(form)                                 \
    EP_VALUES_OF_RUN(form, k, EP_EACH_OF_RUN, a, b)
#else
#define EP_EACH_DENSE_t(statement) EP_EACH_DENSE(EP_AHEAD_t, statement)
#define EP_EACH_DENSE_tt(statement) EP_EACH_DENSE(EP_AHEAD_tt, statement)
#define EP_EACH_DENSE_ts(statement) EP_EACH_DENSE(EP_AHEAD_ts, statement)
#define EP_EACH_DENSE_st(statement) EP_EACH_DENSE(EP_AHEAD_st, statement)
#define EP_VALUES_DENSE(form, k, a, b) \
    EP_RUN_DENSE                       \
    EP_VALUES(EP_EACH_DENSE_##form, EP_PUT, a, b)
#define EP_VALUES_STRIDED(form, k, WHERE_NEIGHBOURS, a, b) \
    WHERE_NEIGHBOURS(a, b) {                               \
        EP_VALUES_APART(a, b)                              \
    }
// Runs with strides: a loop of its own where all operands are neighbours, unless it would be three. Light rows wait for
// memory, so that they have such loops, too, where one of two operands is a single element. Others fetch EP_HELD
// operands: what computes is a loop over neighbours in any case.
#define EP_VALUES_IF(condition, EACH, a, b) \
    if (condition) {                        \
        EP_VALUES(EACH, EP_PUT, a, b)       \
    } else
#define EP_EACH_NEIGHBOUR_t(statement) EP_EACH_NEIGHBOUR(EP_AHEAD_t, statement)
#define EP_EACH_NEIGHBOUR_tt(statement) EP_EACH_NEIGHBOUR(EP_AHEAD_tt, statement)
#define EP_EACH_NEIGHBOUR_ts(statement) EP_EACH_NEIGHBOUR(EP_AHEAD_ts, statement)
#define EP_EACH_NEIGHBOUR_st(statement) EP_EACH_NEIGHBOUR(EP_AHEAD_st, statement)
#define EP_EACH_BESIDE_FIRST(statement) EP_EACH_STEPPED(false, true, EP_AHEAD_tt, statement)
#define EP_EACH_BESIDE_SECOND(statement) EP_EACH_STEPPED(true, false, EP_AHEAD_tt, statement)
#if EP_IS_STEPPED
#define EP_VALUES_NEIGHBOUR(form, condition, a, b)
#else
#define EP_VALUES_NEIGHBOUR(form, condition, a, b) EP_VALUES_IF(condition, EP_EACH_NEIGHBOUR_##form, a, b)
#endif
#if EP_IS_LIGHT
#define EP_VALUES_BESIDE(condition, EACH, a, b) EP_VALUES_IF(condition, EACH, a, b)
#define EP_VALUES_APART(a, b) EP_VALUES(EP_EACH_STRIDED, EP_PUT, a, b)
#else
#define EP_VALUES_BESIDE(condition, EACH, a, b)
#define EP_VALUES_APART(a, b)                                                         \
    const ep_index whole = count;                                                     \
    for (ep_index held = 0; held < whole; held += EP_HELD) {                          \
        EP_C held_a[EP_HELD], held_b[EP_HELD];                                        \
        EP_R made[EP_HELD];                                                           \
        const ep_index count = whole - held < EP_HELD ? whole - held : EP_HELD;       \
        EP_EACH_STRIDED(EP_HOLD(a, b))                                                \
        EP_VALUES(EP_EACH_OF_HELD, EP_MAKE, held_a[i], held_b[i])                     \
        EP_EACH_STRIDED(EP_PUT(made[i]))                                              \
        from0 += EP_HELD * step0, from1 += EP_HELD * step1, from2 += EP_HELD * step2; \
    }
#define EP_EACH_OF_HELD(statement)         \
    EP_INDEPENDENT                         \
    for (ep_index i = 0; i < count; ++i) { \
        statement;                         \
    }
#define EP_MAKE(value) made[i] = value
#endif
#endif
