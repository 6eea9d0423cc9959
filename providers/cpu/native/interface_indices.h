/* The C interface of Gather and OneHot; see interface.h. */

/* Rows of x at indices: operands are x, indices and out. A run is what lies together in x and in out, and is taken as
 * one; over runs, x has the strides of index 0; `reach` is the length of x. Immutable once prepared. Strides, offsets
 * and lengths are in bytes. */
typedef struct {
    int64_t extent;
    int64_t reach;
    int64_t step;
    int64_t run;
    int64_t size;
    int64_t traffic;
    int32_t index_size;
    int32_t ndim;
    int64_t offset[EP_OPERANDS];
    int64_t shape[EP_RANK];
    int64_t stride[EP_OPERANDS][EP_RANK];
} ep_gather_geometry;

/* One launch: addresses of x, indices and out. */
typedef struct {
    const ep_gather_geometry* geometry;
    intptr_t at[EP_OPERANDS];
} ep_gather_packed;

/* The entry: `packed` is an ep_gather_packed. An index that is not from 0 to below `extent` reads nothing and gives
 * zeros. 0 is success. */
int ep_gather(const void* packed);
/* A checked launch: packs on the stack and enters. */
int ep_launch_gather(const ep_gather_geometry* geometry, intptr_t x, intptr_t indices, intptr_t out);

/* Places of a OneHot's tensors. */
enum { EP_INDICES, EP_CLASSES, EP_ONE_HOT_TENSORS };

/* A row of classes for each index, over the dimensions of indices, with the strides of both there. `fill` is the row of
 * Fill that knows how a number becomes an element. Immutable once prepared. Strides, offsets and `step`, from class to
 * class, are in bytes. */
typedef struct {
    const ep_row* fill;
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
} ep_one_hot_geometry;

/* One launch: both numbers as bytes of the compute type. */
typedef struct {
    const ep_one_hot_geometry* geometry;
    intptr_t at[EP_ONE_HOT_TENSORS];
    char on[16];
    char off[16];
} ep_one_hot_packed;

/* The entry: `packed` is an ep_one_hot_packed. 0 is success. */
int ep_one_hot(const void* packed);
/* A checked launch: packs on the stack and enters. */
int ep_launch_one_hot(const ep_one_hot_geometry* geometry, const char* on, int64_t on_length, const char* off,
                      int64_t off_length, intptr_t indices, intptr_t out);
