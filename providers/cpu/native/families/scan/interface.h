/* The C interface of Scan; see runtime/interface.h. */

enum { EP_SCAN_X, EP_SCAN_OUT, EP_SCAN_PLACES };

/* Rows of `extent` elements, `step` bytes apart, and the `ndim` dimensions across them, at least one; not empty.
 * Strides and offsets are in bytes. `wide` says that rows are taken side by side along the last of these dimensions. */
typedef struct {
    const ep_row* row;
    int32_t exclusive;
    int32_t wide;
    int32_t ndim;
    int64_t traffic;
    int64_t extent;
    int64_t offset[EP_SCAN_PLACES];
    int64_t step[EP_SCAN_PLACES];
    int64_t shape[EP_RANK];
    int64_t stride[EP_SCAN_PLACES][EP_RANK];
} ep_scan_plan;
