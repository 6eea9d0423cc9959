/* The C interface of Gather; see runtime/interface.h. */

/* Rows of x at indices, into out. A run is contiguous in x and in out, and is moved as one; over runs, x has
 * the strides of index 0; `reach` is the length of x. An index that is not from 0 to below `extent` reads nothing and
 * gives zeros. Strides, offsets and lengths are in bytes. */
typedef struct {
    const ep_row* row;
    int64_t extent;
    int64_t reach;
    int64_t step;
    int64_t run;
    int64_t size;
    int64_t traffic;
    int32_t index_size;
    int32_t ndim;
    int64_t offset[3];
    int64_t shape[EP_RANK];
    int64_t stride[3][EP_RANK];
} ep_gather_plan;
