// What a row stores: EP_VALUE_OF(form), for each element. A row of one formula has it in every form. One of three,
// EP_STEPPED(is_long, brief, value), has elements that take their time: where none of a run is a long one, `brief` is
// `value`, and a loop without branches.

#define EP_WHETHER 0
#define EP_BRIEFLY 1
#define EP_FULLY 2
#define EP_STEPPED(is_long, brief, value) \
    (form == EP_WHETHER ? (EP_R)(is_long) : form == EP_BRIEFLY ? (EP_R)(brief) : (EP_R)(value))

#if EP_STRIDED
#define EP_RUN EP_RUN_STRIDED
#define EP_EACH EP_EACH_STRIDED
#else
#define EP_RUN EP_RUN_DENSE
#define EP_EACH EP_EACH_DENSE
#endif

#if EP_IS_STEPPED
#define EP_FOR_EACH_VALUE(at)                              \
    EP_RUN                                                 \
    int longs = 0;                                         \
    EP_EACH(longs |= EP_VALUE_OF(EP_WHETHER) != 0)         \
    if (longs != 0) {                                      \
        EP_EACH(EP_STORE_out(at, EP_VALUE_OF(EP_FULLY)))   \
    } else {                                               \
        EP_EACH(EP_STORE_out(at, EP_VALUE_OF(EP_BRIEFLY))) \
    }
#else
#define EP_FOR_EACH_VALUE(at) EP_RUN EP_EACH(EP_STORE_out(at, EP_VALUE_OF(EP_FULLY)))
#endif
