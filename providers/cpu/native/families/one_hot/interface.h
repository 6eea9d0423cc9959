/* The C interface of OneHot; see runtime/interface.h. */

/* Places of its tensors. */
enum { EP_INDICES, EP_CLASSES, EP_ONE_HOT_TENSORS };

/* A row of classes for each index, over the dimensions of indices, with the strides of both there. Numbers are on and
 * off, in the compute type. Strides, offsets and `step`, from class to class, are in bytes. */
typedef struct {
    const ep_row* row;
    int64_t first;
    int64_t classes;
    int64_t step;
    int64_t size;
    int64_t traffic;
    int32_t index_size;
    int32_t ndim;
    int64_t offset[EP_ONE_HOT_TENSORS];
    int64_t shape[EP_RANK];
    int64_t stride[EP_ONE_HOT_TENSORS][EP_RANK];
} ep_one_hot_plan;
