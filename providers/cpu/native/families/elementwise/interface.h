/* The C interface of kernels that visit single elements; see runtime/interface.h. */

enum { EP_OPERANDS = 4, EP_ATTRIBUTES = 2 };

/* The iteration space of a loop. Immutable once prepared. Strides and offsets are in bytes. */
struct ep_geometry {
    const ep_row* row;
    int64_t size;
    int64_t traffic;
    int32_t operands;
    int32_t ndim;
    int32_t scalar; /* the operand that is a number, -1 if none is; of Where the set of them, 1 << operand each */
    int32_t scalar_type;
    int64_t offset[EP_OPERANDS];
    int64_t itemsize[EP_OPERANDS];
    int64_t shape[EP_RANK];
    int64_t stride[EP_OPERANDS][EP_RANK];
    /* Of an input whose neighbours lie along the last dimension but one, the row of its transposes; else null. */
    const ep_row* turned[EP_OPERANDS];
    double attributes[EP_ATTRIBUTES];
};

/* The entry of their rows. */
int ep_elementwise(const void* packed);
/* Their checked launches, which pack nothing; tensors are given as to ep_enter2. `value` is the number of the scalar
 * operand, `number` its bytes where a double does not hold it: both in the compute type in the end. */
int ep_launch2(const ep_geometry* geometry, char* x, int64_t x_at, char* out, int64_t out_at);
int ep_launch3(const ep_geometry* geometry, char* a, int64_t a_at, char* b, int64_t b_at, char* out, int64_t out_at);
int ep_launch4(const ep_geometry* geometry, char* condition, int64_t condition_at, char* a, int64_t a_at, char* b,
               int64_t b_at, char* out, int64_t out_at);
int ep_launch2_scalar(const ep_geometry* geometry, double value, char* out, int64_t out_at);
int ep_launch3_scalar(const ep_geometry* geometry, double value, char* other, int64_t other_at, char* out,
                      int64_t out_at);
int ep_launch2_number(const ep_geometry* geometry, const char* number, char* out, int64_t out_at);
int ep_launch3_number(const ep_geometry* geometry, const char* number, char* other, int64_t other_at, char* out,
                      int64_t out_at);
