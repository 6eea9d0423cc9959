/* The C interface of Reduce and ArgReduce; see runtime/interface.h. */

/* Places of their tensors. */
enum { EP_X, EP_REDUCED, EP_REDUCTION };

/* One result from each row of x. Strides and offsets are in bytes. The kept dimensions and the reduced ones are at
 * least one each; the last reduced one is the fastest to read. `outputs` is the product of `kept_extent`, `terms` the
 * product of `extent`; `place` is the step of an element's number in its row along each reduced dimension. */
typedef struct {
    const ep_row* row;
    int64_t outputs;
    int64_t terms;
    int64_t traffic;
    int64_t offset[EP_REDUCTION];
    int32_t kept;
    int32_t ndim;
    int64_t kept_extent[EP_RANK];
    int64_t kept_stride[EP_REDUCTION][EP_RANK];
    int64_t extent[EP_RANK];
    int64_t stride[EP_RANK];
    int64_t place[EP_RANK];
} ep_reduce_plan;
