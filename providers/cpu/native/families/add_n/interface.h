/* The C interface of AddN; see runtime/interface.h. */

enum { EP_TERMS = 64 };

/* Tensors are the terms, then out. `sum` is the row that adds two staged elements; for a single term it copies it.
 * Strides and offsets are in bytes. */
typedef struct {
    const ep_row* row;
    const ep_row* sum;
    int64_t size;
    int64_t traffic;
    int32_t terms;
    int32_t ndim;
    int64_t shape[EP_RANK];
    const int64_t* offset;
    const int64_t (*stride)[EP_RANK];
} ep_add_n_plan;
