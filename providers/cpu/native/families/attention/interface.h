/* The C interface of Attention; see runtime/interface.h. */

/* Places of its tensors; scratch comes after them. */
enum {
    EP_ATTENTION_Q,
    EP_ATTENTION_K,
    EP_ATTENTION_V,
    EP_ATTENTION_MASK,
    EP_ATTENTION_OUT,
    EP_ATTENTION_PLACES,
    EP_ATTENTION_SCRATCH = EP_ATTENTION_PLACES
};

/* `queries` rows of q meet `keys` rows of k, both of `depth` columns, and of v, which has `columns`. `product` is the
 * row of Matmul from the element type to the compute type, `tanh` that of the compute type, NULL without a cap. At most
 * `parts` threads have `room` bytes of scratch each. Strides, lines, steps along a row and offsets are in bytes. */
typedef struct {
    const ep_row* row;
    const ep_row* product;
    const ep_row* tanh;
    int32_t place[EP_ATTENTION_PLACES + 1];
    int32_t is_of_bools; /* the mask; else it is of the element type */
    int32_t is_causal;
    int32_t parts;
    int32_t ndim;
    int64_t room;
    int64_t queries;
    int64_t keys;
    int64_t depth;
    int64_t columns;
    int64_t ahead; /* keys before the first query */
    double scale;
    double cap;
    int64_t offset[EP_ATTENTION_PLACES];
    int64_t line[EP_ATTENTION_PLACES];
    int64_t step[EP_ATTENTION_PLACES];
    int64_t extent[EP_RANK];
    int64_t stride[EP_ATTENTION_PLACES][EP_RANK];
} ep_attention_plan;

/* Fill in parts and room; return the bytes of scratch that a launch needs. */
int64_t ep_attention_scratch(ep_attention_plan* plan);
