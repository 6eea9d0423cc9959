/* The C interface of the native module. cffi reads this very file: declarations alone, no preprocessor. */

enum { EP_OPERANDS = 4, EP_RANK = 16, EP_ATTRIBUTES = 2 };

/* The element types, then the real parts of complex ones, which casts read and write (with imaginary part 0). */
enum {
    EP_bool,
    EP_int8,
    EP_int16,
    EP_int32,
    EP_int64,
    EP_uint8,
    EP_uint16,
    EP_uint32,
    EP_uint64,
    EP_float8_e4m3fn,
    EP_float8_e5m2,
    EP_float16,
    EP_bfloat16,
    EP_float32,
    EP_float64,
    EP_complex64,
    EP_complex128,
    EP_real_of_complex64,
    EP_real_of_complex128,
    EP_STORAGES
};

typedef struct ep_geometry ep_geometry;
/* How an element type lies in memory, and how blocks of it get into and out of the type that is computed in. */
typedef struct ep_storage ep_storage;

/* n steps of the innermost dimension: operand k starts at at[k] and moves by step[k] bytes, the output last. */
typedef void (*ep_loop)(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n);

/* An op over n contiguous elements in the compute type; input `single` is one element for all (-1: neither is). */
typedef void (*ep_body)(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single);

/* One op for one pair of dtypes, compiled for one instruction set. */
typedef struct {
    const char* family;
    const char* op;
    const char* input;
    const char* output;
    ep_loop loop;
    ep_body body;
    const ep_storage* from;
    const ep_storage* to;
} ep_row;

/* What a kernel loops over. Immutable once prepared, and shared by threads. Strides and offsets are in bytes. */
struct ep_geometry {
    const ep_row* row;
    int64_t size;
    int64_t traffic;
    int32_t operands;
    int32_t ndim;
    int32_t scalar;
    int32_t scalar_type;
    int64_t offset[EP_OPERANDS];
    int64_t itemsize[EP_OPERANDS];
    int64_t shape[EP_RANK];
    int64_t stride[EP_OPERANDS][EP_RANK];
    double attributes[EP_ATTRIBUTES];
};

/* One launch: addresses of the tensor operands at their places, and the bytes of the scalar one. */
typedef struct {
    const ep_geometry* geometry;
    intptr_t at[EP_OPERANDS];
    char scalar[16];
} ep_packed;

/* One command of a list: an entry, and where in the list's arena its packed block begins, in bytes. */
typedef struct {
    int (*entry)(const void* packed);
    int64_t at;
} ep_command;

/* An address in the arena that a run may replace: `offset` bytes behind that of a slot. */
typedef struct {
    int64_t at;
    int64_t slot;
    int64_t offset;
} ep_patch;

/* Immutable once prepared, and run by several threads at once. */
typedef struct {
    const ep_command* commands;
    int64_t count;
    const char* arena;
    int64_t nbytes;
    const ep_patch* patches;
    int64_t patch_count;
} ep_list;

/* The rows of one group. */
typedef struct {
    const ep_row* rows;
    int64_t count;
} ep_part;

/* All that is there for one instruction set. */
typedef struct {
    const char* isa;
    const ep_part* const* parts;
    int64_t count;
} ep_table;

/* Name of rung i of the ladder, best first; NULL past its end. */
const char* ep_isa(int rung);
/* The best table that this machine runs, from the rung named `limit` down ("" means the top); NULL: no such rung. */
const ep_table* ep_open(const char* limit);

/* The entry of every kernel: `packed` is an ep_packed. 0 is success. */
int ep_elementwise(const void* packed);

/* Run a command list. `slots` holds an address for each slot, 0 for what is in the arena; NULL: nothing is replaced.
 * 0 is success, else the status of the command that failed in the low 32 bits and its place above them; the place is
 * -1 if there was no memory for a copy of the arena. */
int64_t ep_run(const ep_list* list, const intptr_t* slots);

/* Checked launches: pack on the stack and enter. `value` is the number of the scalar operand, `number` its bytes where
 * a double does not hold it: both in the compute type in the end. */
int ep_launch2(const ep_geometry* geometry, intptr_t x, intptr_t out);
int ep_launch3(const ep_geometry* geometry, intptr_t a, intptr_t b, intptr_t out);
int ep_launch4(const ep_geometry* geometry, intptr_t condition, intptr_t a, intptr_t b, intptr_t out);
int ep_launch2_scalar(const ep_geometry* geometry, double value, intptr_t out);
int ep_launch3_scalar(const ep_geometry* geometry, double value, intptr_t other, intptr_t out);
int ep_launch2_number(const ep_geometry* geometry, const char* number, intptr_t out);
int ep_launch3_number(const ep_geometry* geometry, const char* number, intptr_t other, intptr_t out);

/* Bytes. Ranges of a copy may overlap; a fill's length divides nbytes and is 1, 2, 4, 8 or 16. */
int ep_copy(intptr_t dst, intptr_t src, int64_t nbytes);
int ep_fill(intptr_t dst, int64_t nbytes, const char* pattern, int length);

/* Both as commands. */
typedef struct {
    intptr_t dst;
    intptr_t src;
    int64_t nbytes;
} ep_copy_packed;
typedef struct {
    intptr_t dst;
    int64_t nbytes;
    int64_t length;
    char pattern[16];
} ep_fill_packed;
int ep_copy_bytes(const void* packed);
int ep_fill_bytes(const void* packed);

/* 0: no memory. */
intptr_t ep_allocate(int64_t nbytes, int64_t alignment);
void ep_free(intptr_t address);

/* Kernels, copies and fills entered so far in this process. */
int64_t ep_calls(void);

/* How many bytes the threads of this process keep for their panels and sums of products. */
int64_t ep_workspace(void);
/* Monotonic time in nanoseconds. */
int64_t ep_clock(void);

/* Threads that a kernel may use, the caller's included; takes effect when the pool is built next. */
void ep_set_threads(int count);
int ep_threads(void);

/* What a row of RandomFill makes elements of: words from number `word` of a seed's sequence on; low and bound are the
 * numbers of a launch as ep_primitives.RandomFill.limits gives them. */
typedef struct {
    uint64_t seed;
    uint64_t word;
    uint64_t low;
    uint64_t bound;
} ep_draw;

/* One launch of a RandomFill. The geometry is of out alone, as its only operand, in the order of its elements, of at
 * least one dimension. */
typedef struct {
    const ep_geometry* geometry;
    intptr_t state;
    intptr_t out;
    uint64_t low;
    uint64_t bound;
} ep_random_packed;

/* The entry: `packed` is an ep_random_packed. The state is read, and advanced at the end. 0 is success. */
int ep_random_fill(const void* packed);
/* A checked launch: packs on the stack and enters. */
int ep_launch_random_fill(const ep_geometry* geometry, intptr_t state, intptr_t out, uint64_t low, uint64_t bound);

typedef struct ep_matmul_engine ep_matmul_engine;

/* Places of a Matmul's tensors. */
enum { EP_A, EP_B, EP_BIAS, EP_OUT, EP_MATRICES };

/* out = activation(alpha op(a) @ op(b) + beta out + bias). Immutable once prepared. Strides and offsets are in bytes;
 * `row` and `column` are those of each operand as a matrix. Of the `ndim` batch dimensions the first `kept` are out's,
 * the others are summed over. */
typedef struct {
    const ep_matmul_engine* engine;
    const ep_row* activation;
    int32_t dtype;
    int32_t out_dtype;
    int32_t conjugate[2];
    int32_t has_bias;
    int32_t kept;
    int32_t ndim;
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t offset[EP_MATRICES];
    int64_t row[EP_MATRICES];
    int64_t column[EP_MATRICES];
    int64_t extent[EP_RANK];
    int64_t stride[EP_MATRICES][EP_RANK];
} ep_matmul;

/* One launch: addresses at their places (a bias may be missing), alpha and beta as (real, imaginary). */
typedef struct {
    const ep_matmul* matmul;
    intptr_t at[EP_MATRICES];
    double alpha[2];
    double beta[2];
} ep_matmul_packed;

/* What the instruction set of that name has for Matmul; NULL: no such name. */
const ep_matmul_engine* ep_matmul_engine_of(const char* isa);
/* The entry: `packed` is an ep_matmul_packed. 0 is success, 12 (ENOMEM) no memory for the panels. */
int ep_multiply(const void* packed);
/* A checked launch: packs on the stack and enters. Where there is no bias, its address is not looked at. */
int ep_launch_matmul(const ep_matmul* matmul, intptr_t a, intptr_t b, intptr_t bias, intptr_t out, double alpha,
                     double alpha_im, double beta, double beta_im);

/* One launch of a Where of which a or b is a number, or both: 0 is its address, and here are its bytes in the compute
 * type. */
typedef struct {
    const ep_geometry* geometry;
    intptr_t at[EP_OPERANDS];
    char a[16];
    char b[16];
} ep_where_packed;
/* The entry: `packed` is an ep_where_packed. 0 is success. */
int ep_where(const void* packed);
/* A checked launch. A number that is none may be NULL. */
int ep_launch_where(const ep_geometry* geometry, intptr_t condition, intptr_t a, intptr_t b, intptr_t out,
                    const char* a_number, const char* b_number);

enum { EP_TERMS = 64 };

/* What an AddN loops over: the terms, then out; the row adds two staged elements, that of one term gives it back.
 * Immutable once prepared. Strides and offsets are in bytes. */
typedef struct {
    const ep_row* row;
    int64_t size;
    int64_t traffic;
    int32_t terms;
    int32_t ndim;
    int64_t shape[EP_RANK];
    const int64_t* offset;
    const int64_t (*stride)[EP_RANK];
} ep_terms;

/* One launch: addresses of the terms, then of out. */
typedef struct {
    const ep_terms* terms;
    intptr_t at[EP_TERMS + 1];
} ep_terms_packed;
/* The entry: `packed` is an ep_terms_packed. 0 is success. */
int ep_add_terms(const void* packed);
/* A checked launch. */
int ep_launch_add_n(const ep_terms* terms, const intptr_t* at);
