/* The C interface of TopK; see runtime/interface.h. */

/* Places of its tensors; scratch comes after them. */
enum { EP_TOP_X, EP_TOP_VALUES, EP_TOP_INDICES, EP_TOP_PLACES };

/* The best `k` of `extent` elements of each of `rows` rows, which `ndim` dimensions number; k is at least 1. `parts` of
 * the rows are worked on at once, each in `room` candidates of scratch. Strides, steps along a row and offsets are in
 * bytes. */
typedef struct {
    const ep_row* row;
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
} ep_top_k_plan;

/* Fill in parts and room, for a launch that moves so many bytes; return the bytes of scratch that it needs. */
int64_t ep_top_k_scratch(ep_top_k_plan* plan, int64_t traffic);
