/* The C interface of TopK; see interface.h. */

/* Places of the tensors of a TopK. */
enum { EP_TOP_X, EP_TOP_VALUES, EP_TOP_INDICES, EP_TOP_PLACES };

/* The best `k` of `extent` elements of each of `rows` rows, which `ndim` dimensions number; k is at least 1. `parts` of
 * the rows are worked on at once, each in `room` candidates of scratch. Immutable once prepared. Strides, steps along a
 * row and offsets are in bytes. */
typedef struct {
    int32_t dtype;
    int32_t is_smallest;
    int32_t is_sorted;
    int32_t ndim;
    int32_t parts;
    int64_t itemsize;
    int64_t rows;
    int64_t extent;
    int64_t k;
    int64_t room;
    int64_t offset[EP_TOP_PLACES];
    int64_t step[EP_TOP_PLACES];
    int64_t shape[EP_RANK];
    int64_t stride[EP_TOP_PLACES][EP_RANK];
} ep_top_k;

/* One launch: addresses at their places, and that of ep_top_k_scratch bytes. */
typedef struct {
    const ep_top_k* top;
    intptr_t at[EP_TOP_PLACES];
    intptr_t scratch;
} ep_top_k_packed;

/* Fill in parts and room, for a launch that moves so many bytes; return the bytes of scratch that it needs. */
int64_t ep_top_k_scratch(ep_top_k* top, int64_t traffic);
/* The entry: `packed` is an ep_top_k_packed. 0 is success. */
int ep_select(const void* packed);
/* A checked launch: packs on the stack and enters. */
int ep_launch_top_k(const ep_top_k* top, intptr_t x, intptr_t values, intptr_t indices, intptr_t scratch);
