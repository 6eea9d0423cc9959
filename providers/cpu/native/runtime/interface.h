/* The C interface of the native module, as far as all families share it. cffi reads this very file, and then the
 * interface.h of each family: declarations alone, no preprocessor. */

enum { EP_RANK = 16, EP_NUMBERS = 2, EP_NUMBER = 16, EP_PLACES = 65 };

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

/* One op for one pair of dtypes, compiled for one instruction set. Every kernel of every family is one. */
typedef struct {
    const char* family;
    const char* op;
    const char* input;
    const char* output;
    /* Runs one launch: `packed` is an ep_packed. 0 is success, else a number of errno.h. */
    int (*enter)(const void* packed);
    const ep_storage* from;
    const ep_storage* to;
    /* The functions that families over single elements call, NULL in others; the body also where storages do all. */
    ep_loop loop;
    ep_body body;
    /* More functions that `enter` calls: of a type of the family's own, which its folder declares. */
    const void* code;
} ep_row;

/* The data of a kernel: the plan of each family begins so. Immutable once prepared, and shared by threads. */
typedef struct {
    const ep_row* row;
} ep_plan;

/* One launch: the addresses of tensors, 0 for an absent one, then its numbers, in the type that the family
 * chooses, EP_NUMBER bytes each; both in the order of the descriptor's operands. */
typedef struct {
    const void* plan;
    intptr_t at[];
} ep_packed;

/* Run the launch that is packed. */
int ep_enter(const void* packed);
/* Checked launches: pack on the stack and enter. A tensor is an allocation, NULL for an absent one, and its first
 * byte's place in it: cffi takes pointers and small integers at a fifth of what an address as an integer costs. Of two
 * and of three tensors; of `count`, up to six, with EP_NUMBERS numbers, read or not; and of any number of them, at most
 * EP_PLACES. */
int ep_enter2(const void* plan, char* a, int64_t a_at, char* b, int64_t b_at);
int ep_enter3(const void* plan, char* a, int64_t a_at, char* b, int64_t b_at, char* c, int64_t c_at);
int ep_enter6(const void* plan, int64_t count, const char* numbers, char* a, int64_t a_at, char* b, int64_t b_at,
              char* c, int64_t c_at, char* d, int64_t d_at, char* e, int64_t e_at, char* f, int64_t f_at);
int ep_enter_all(const void* plan, int64_t count, char* const* tensors, const int64_t* at);

/* One command of a list: an entry, and where in the list's arena its packed block begins, in bytes. */
typedef struct {
    int (*entry)(const void* packed);
    int64_t at;
} ep_command;

/* An address in the arena that a run may replace: a slot's address plus `offset` bytes. */
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

/* Run a command list. `slots` holds an address for each slot, 0 to keep the arena's; NULL: nothing is replaced.
 * 0 is success, else the status of the command that failed in the low 32 bits and its place above them; the place is
 * -1 if there was no memory for a copy of the arena. */
int64_t ep_run(const ep_list* list, const intptr_t* slots);

/* The rows of one source. */
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

/* Bytes. Ranges of a copy may overlap; a fill's length divides nbytes and is 1, 2, 4, 8 or 16. */
int ep_copy(char* dst, const char* src, int64_t nbytes);
int ep_fill(char* dst, int64_t nbytes, const char* pattern, int length);

/* Both as commands. */
typedef struct {
    char* dst;
    const char* src;
    int64_t nbytes;
} ep_copy_packed;
typedef struct {
    char* dst;
    int64_t nbytes;
    int64_t length;
    char pattern[16];
} ep_fill_packed;
int ep_copy_bytes(const void* packed);
int ep_fill_bytes(const void* packed);

/* NULL: no memory. */
char* ep_allocate(int64_t nbytes, int64_t alignment);
void ep_free(char* memory);

/* Kernels, copies and fills entered so far in this process. */
int64_t ep_calls(void);

/* Monotonic time in nanoseconds. */
int64_t ep_clock(void);

/* Threads that a kernel may use, the caller's included; takes effect when the pool is built next. */
void ep_set_threads(int count);
int ep_threads(void);
