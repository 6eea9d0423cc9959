/* The C interface of Matmul; see runtime/interface.h. */

/* Its tensors. */
enum { EP_A, EP_B, EP_BIAS, EP_OUT, EP_MATRICES };

/* out = activation(alpha op(a) @ op(b) + beta out + bias). Numbers are alpha and beta, of complex128; a bias may be
 * missing. `place` maps each matrix to its address in a launch. Strides and offsets are in bytes; `line` and `column`
 * are the strides of each operand as a matrix. Of the `ndim` batch dimensions the first `kept` are out's, the others
 * are summed over. */
typedef struct {
    const ep_row* row;
    const ep_row* activation;
    int32_t place[EP_MATRICES];
    int32_t dtype;
    int32_t conjugate[2];
    int32_t has_bias;
    int32_t kept;
    int32_t ndim;
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t offset[EP_MATRICES];
    int64_t line[EP_MATRICES];
    int64_t column[EP_MATRICES];
    int64_t extent[EP_RANK];
    int64_t stride[EP_MATRICES][EP_RANK];
    const ep_windows* windows; /* of which one factor's matrices are made, if it is not NULL */
    int32_t windowed;          /* that factor: a, if panels hold elements as they lie, or b */
    char* constant[2];         /* where panels of a constant a or b lie from one launch to the next; NULL, else */
} ep_matmul_plan;

/* How many bytes panels of a or b take, in memory whose first bytes, EP_CONSTANT_STATE of them, are zeros before the
 * first launch; 0 for an operand that launches read where it lies, and where packing it takes no part of a launch's
 * time. */
enum { EP_CONSTANT_STATE = 64 };
int64_t ep_matmul_constant(const ep_matmul_plan* plan, int operand);

/* How many sums the panels of m rows and n columns hold, with those that fill up the last panels. Fewer than four rows
 * count as four, whose products take as long. */
int64_t ep_matmul_sums(const ep_row* row, int64_t m, int64_t n);

/* How many bytes the threads of this process keep for their panels and sums of products. */
int64_t ep_workspace(void);
