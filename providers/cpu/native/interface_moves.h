/* The C interface of Pad and of transposing copies; see interface.h. */

enum { EP_PAD_CONSTANT, EP_PAD_REFLECT, EP_PAD_EDGE, EP_PAD_CIRCULAR };

/* One dimension of a Pad: extents of out and of x, elements of out in front of x, strides in bytes. */
typedef struct {
    int64_t extent;
    int64_t source;
    int64_t before;
    int64_t x_step;
    int64_t out_step;
} ep_pad_dimension;

/* A Pad, outermost dimension first, of at least one dimension. Immutable once prepared. Offsets are in bytes.
 * is_contiguous: the elements of out lie one behind the other in that order. */
typedef struct {
    const ep_storage* storage;
    int32_t mode;
    int32_t ndim;
    int32_t is_contiguous;
    int64_t size;
    int64_t traffic;
    int64_t x_offset;
    int64_t out_offset;
    ep_pad_dimension dimension[EP_RANK];
} ep_pad;

/* One launch: addresses, and of mode constant the number in the compute type. */
typedef struct {
    const ep_pad* pad;
    intptr_t x;
    intptr_t out;
    char value[16];
} ep_pad_packed;

/* The entry: `packed` is an ep_pad_packed. 0 is success. */
int ep_pad_borders(const void* packed);
/* A checked launch: `value` is the number's bytes, not looked at but of mode constant. */
int ep_launch_pad(const ep_pad* pad, intptr_t x, intptr_t out, const char* value);

typedef struct ep_transposer ep_transposer;

/* A copy of matrices: each is `height` rows of `width` contiguous elements in x, and `width` rows of `height` of them
 * in out. Immutable once prepared. Steps, from row to row, strides, from matrix to matrix, and offsets are in bytes. */
typedef struct {
    const ep_transposer* transposer;
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
} ep_transposition;

/* One launch. */
typedef struct {
    const ep_transposition* transposition;
    intptr_t x;
    intptr_t out;
} ep_transpose_packed;

/* What the instruction set of that name has for elements of 1, 2, 4, 8 or 16 bytes; NULL: no such name. */
const ep_transposer* ep_transposer_of(const char* isa, int64_t itemsize);
/* The entry: `packed` is an ep_transpose_packed. 0 is success. */
int ep_transpose(const void* packed);
/* A checked launch. */
int ep_launch_transpose(const ep_transposition* transposition, intptr_t x, intptr_t out);
