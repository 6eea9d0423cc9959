/* The C interface of Reduce and ArgReduce; see interface.h. */

typedef struct ep_reducer ep_reducer;
typedef struct ep_seeker ep_seeker;

/* Places of the tensors of a Reduce and an ArgReduce. */
enum { EP_X, EP_REDUCED, EP_REDUCTION };

/* What a Reduce or an ArgReduce makes of each row of x. Immutable once prepared. Strides and offsets are in bytes, at
 * least one dimension each of those that stay and those that go; the last that goes is the fastest to read. `outputs`
 * is the product of `kept_extent`, `terms` of `extent`; `place` is how far an element's number in a row moves. */
typedef struct {
    const ep_reducer* reducer;
    const ep_seeker* seeker;
    int64_t outputs;
    int64_t terms;
    int64_t traffic;
    int64_t offset[EP_REDUCTION];
    int32_t out_dtype;
    int32_t kept;
    int32_t ndim;
    int64_t kept_extent[EP_RANK];
    int64_t kept_stride[EP_REDUCTION][EP_RANK];
    int64_t extent[EP_RANK];
    int64_t stride[EP_RANK];
    int64_t place[EP_RANK];
} ep_reduction;

/* One launch. */
typedef struct {
    const ep_reduction* reduction;
    intptr_t at[EP_REDUCTION];
} ep_reduce_packed;

/* What the instruction set of that name has for an op and a pair of dtypes; NULL: nothing. */
const ep_reducer* ep_reducer_of(const char* isa, const char* op, const char* input, const char* output);
const ep_seeker* ep_seeker_of(const char* isa, const char* op, const char* input);
/* The entries: `packed` is an ep_reduce_packed. 0 is success. */
int ep_reduce(const void* packed);
int ep_arg_reduce(const void* packed);
/* Checked launches: pack on the stack and enter. */
int ep_launch_reduce(const ep_reduction* reduction, intptr_t x, intptr_t out);
int ep_launch_arg_reduce(const ep_reduction* reduction, intptr_t x, intptr_t out);
