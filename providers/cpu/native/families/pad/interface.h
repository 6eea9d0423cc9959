/* The C interface of Pad; see runtime/interface.h. */

enum { EP_PAD_CONSTANT, EP_PAD_REFLECT, EP_PAD_EDGE, EP_PAD_CIRCULAR };

/* One dimension of a Pad: extents of out and of x, elements of out in front of x, strides in bytes. */
typedef struct {
    int64_t extent;
    int64_t source;
    int64_t before;
    int64_t x_step;
    int64_t out_step;
} ep_pad_dimension;

/* Of x to out, outermost dimension first, of at least one dimension. Of mode constant there is a number, in the compute
 * type. Offsets are in bytes. is_contiguous: the elements of out are contiguous in that order. */
typedef struct {
    const ep_row* row;
    int32_t mode;
    int32_t ndim;
    int32_t is_contiguous;
    int64_t size;
    int64_t traffic;
    int64_t x_offset;
    int64_t out_offset;
    ep_pad_dimension dimension[EP_RANK];
} ep_pad_plan;
