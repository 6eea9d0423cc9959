/* The C interface of Scan; see runtime/interface.h. */

enum { EP_SCAN_X, EP_SCAN_OUT, EP_SCAN_PLACES };

/* One row at a time; neighbours along the last dimension across, line by line; or short rows of neighbours there, whose
 * elements lie side by side in x and in out. */
enum { EP_SCAN_ALONG, EP_SCAN_ACROSS, EP_SCAN_SHORT };
/* The most elements of a short row. */
enum { EP_SCAN_MOST = 128 };

/* Rows of `extent` elements, `step` bytes apart, and the `ndim` dimensions across them, at least one; not empty.
 * Strides and offsets are in bytes. `how` is one of the ways above. */
typedef struct {
    const ep_row* row;
    int32_t exclusive;
    int32_t how;
    int32_t ndim;
    int64_t traffic;
    int64_t extent;
    int64_t offset[EP_SCAN_PLACES];
    int64_t step[EP_SCAN_PLACES];
    int64_t shape[EP_RANK];
    int64_t stride[EP_SCAN_PLACES][EP_RANK];
} ep_scan_plan;
