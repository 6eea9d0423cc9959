/* The C interface of softmaxes; see interface.h. */

typedef struct ep_softmax_engine ep_softmax_engine;

/* Places of the tensors of a softmax: x stands at the first one, and the second is missing; or dy and y. */
enum { EP_GIVEN, EP_Y, EP_MADE, EP_ROWS };

/* Which softmax it is. */
enum { EP_SOFTMAX, EP_LOG_SOFTMAX, EP_SOFTMAX_BACKWARD, EP_LOG_SOFTMAX_BACKWARD, EP_SOFTMAXES };

/* Rows of `extent` elements, `step` bytes apart, and the `ndim` dimensions across them; not empty. Immutable once
 * prepared. Strides and offsets are in bytes. `columns` says that in the last of these dimensions all tensors are
 * contiguous. */
typedef struct {
    const ep_softmax_engine* engine;
    int32_t kind;
    int32_t dtype;
    int32_t columns;
    int32_t ndim;
    int64_t traffic;
    int64_t extent;
    int64_t offset[EP_ROWS];
    int64_t step[EP_ROWS];
    int64_t shape[EP_RANK];
    int64_t stride[EP_ROWS][EP_RANK];
} ep_softmax;

/* One launch: addresses at their places. */
typedef struct {
    const ep_softmax* softmax;
    intptr_t at[EP_ROWS];
} ep_softmax_packed;

/* What the instruction set of that name has for softmaxes; NULL: no such name. */
const ep_softmax_engine* ep_softmax_engine_of(const char* isa);
/* The entry: `packed` is an ep_softmax_packed. 0 is success. */
int ep_soften(const void* packed);
/* A checked launch: packs on the stack and enters. Where there is no second input, its address is not looked at. */
int ep_launch_softmax(const ep_softmax* softmax, intptr_t given, intptr_t y, intptr_t made);
