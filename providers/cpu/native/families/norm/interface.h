/* The C interface of the norms; see runtime/interface.h. */

/* Places of the tensors of a norm: all but x and y may be missing. The last two are written by LayerNorm, and read by
 * BatchNorm, whose second one is a variance. */
enum { EP_NORM_X, EP_NORM_SCALE, EP_NORM_BIAS, EP_NORM_Y, EP_NORM_MEAN, EP_NORM_RSTD, EP_NORM_PLACES };

/* `rows` rows of `terms` elements: the `ndim` dimensions that number them, and the `inner` dimensions of each, at least
 * one of them. `place` has the number of each tensor's memory, -1 if it is missing. Strides and offsets are in bytes;
 * those of a missing tensor are 0. */
typedef struct {
    const ep_row* row;
    int32_t place[EP_NORM_PLACES];
    int32_t ndim;
    int32_t inner;
    int64_t rows;
    int64_t terms;
    int64_t traffic;
    double epsilon;
    int64_t offset[EP_NORM_PLACES];
    int64_t shape[EP_RANK];
    int64_t stride[EP_NORM_PLACES][EP_RANK];
    int64_t extent[EP_RANK];
    int64_t step[EP_NORM_PLACES][EP_RANK];
} ep_norm_plan;
