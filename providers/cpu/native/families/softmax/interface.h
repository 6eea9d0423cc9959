/* The C interface of softmaxes; see runtime/interface.h. */

/* Their tensors: dy, y and dx of a backward form; x and out of a forward one, which has nothing in the middle. */
enum { EP_GIVEN, EP_Y, EP_MADE, EP_ROWS };

/* Rows of `extent` elements, `step` bytes apart, and the `ndim` dimensions across them; not empty. Strides and offsets
 * are in bytes. `place` maps each tensor to its address in a launch. `columns`: in the last of these dimensions
 * all tensors are contiguous. */
typedef struct {
    const ep_row* row;
    int32_t place[EP_ROWS];
    int32_t columns;
    int32_t ndim;
    int64_t traffic;
    int64_t extent;
    int64_t offset[EP_ROWS];
    int64_t step[EP_ROWS];
    int64_t shape[EP_RANK];
    int64_t stride[EP_ROWS][EP_RANK];
} ep_softmax_plan;

/* CrossEntropy: rows of x, whose labels stand in for EP_Y and whose losses, or their sum, for EP_MADE; these have no
 * step along a row. `weights` and `scratch` are places, -1 without weights and where losses are not joined; scratch
 * holds a loss and a weight a row, in the compute type. Strides and offsets are in bytes. */
typedef struct {
    const ep_row* row;
    ep_softmax_plan rows;
    int32_t weights;
    int32_t scratch;
    int32_t label_size;
    int32_t is_log; /* or has no classes: no sum over a row is needed */
    int32_t ignores;
    int32_t is_mean;
    int64_t ignored;
    int64_t weights_offset;
    int64_t weights_step;
} ep_cross_entropy_plan;
