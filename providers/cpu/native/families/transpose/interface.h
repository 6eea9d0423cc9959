/* The C interface of transposing copies, from x to out; see runtime/interface.h. */

/* A copy of matrices: each is `height` rows of `width` contiguous elements in x, and `width` rows of `height` of them
 * in out. Steps, from row to row, strides, from matrix to matrix, and offsets are in bytes. */
typedef struct {
    const ep_row* row;
    int64_t traffic;
    int64_t x_offset;
    int64_t out_offset;
    int64_t width;
    int64_t height;
    int64_t x_step;
    int64_t out_step;
    int64_t matrices;
    int32_t ndim;
    int64_t extent[EP_RANK];
    int64_t x_stride[EP_RANK];
    int64_t out_stride[EP_RANK];
} ep_transpose_plan;
