/* The C interface of LayerNorm; see interface.h. */

typedef struct ep_layer_norm_engine ep_layer_norm_engine;

/* Places of the tensors of a LayerNorm; scale, bias, mean and rstd may be missing. */
enum { EP_NORM_X, EP_NORM_SCALE, EP_NORM_BIAS, EP_NORM_Y, EP_NORM_MEAN, EP_NORM_RSTD, EP_NORM_PLACES };

/* `rows` rows of `terms` elements: the `ndim` dimensions that number them, and the `inner` dimensions of each, at least
 * one of them. Immutable once prepared. Strides and offsets are in bytes; those of what is missing are 0. */
typedef struct {
    const ep_layer_norm_engine* engine;
    int32_t dtype;
    int32_t present[EP_NORM_PLACES];
    int32_t ndim;
    int32_t inner;
    int64_t rows;
    int64_t terms;
    int64_t traffic;
    double epsilon;
    int64_t offset[EP_NORM_PLACES];
    int64_t shape[EP_RANK];
    int64_t stride[EP_NORM_PLACES][EP_RANK];
    int64_t extent[EP_RANK];
    int64_t step[EP_NORM_PLACES][EP_RANK];
} ep_layer_norm;

/* One launch: addresses at their places. */
typedef struct {
    const ep_layer_norm* norm;
    intptr_t at[EP_NORM_PLACES];
} ep_layer_norm_packed;

/* What the instruction set of that name has for it; NULL: no such name. */
const ep_layer_norm_engine* ep_layer_norm_engine_of(const char* isa);
/* The entry: `packed` is an ep_layer_norm_packed. 0 is success. */
int ep_normalize(const void* packed);
/* A checked launch: packs on the stack and enters. */
int ep_launch_layer_norm(const ep_layer_norm* norm, intptr_t x, intptr_t scale, intptr_t bias, intptr_t y,
                         intptr_t mean, intptr_t rstd);
