/* The C interface of Convolution, and of averages, whose weights are 1; see runtime/interface.h. */

/* Places of its tensors, and of scratch. */
enum {
    EP_CONVOLUTION_X,
    EP_CONVOLUTION_W,
    EP_CONVOLUTION_BIAS,
    EP_CONVOLUTION_Y,
    EP_CONVOLUTION_PLACES,
    EP_CONVOLUTION_SCRATCH = EP_CONVOLUTION_PLACES
};
/* Dimensions of a window: at least 2, the first of which may have an extent of 1. */
enum { EP_SPATIAL = 6 };

/* Windows of an image as columns of a matrix: a row of them is a term of a sum, an element of a window in a channel.
 * Extents, windows, their strides and dilations count elements, steps bytes; x is continued by zeros. */
typedef struct {
    int32_t ndim;
    int64_t channel; /* from one channel of x to the next */
    int64_t step[EP_SPATIAL];
    int64_t extent[EP_SPATIAL];
    int64_t before[EP_SPATIAL];
    int64_t count[EP_SPATIAL];
    int64_t window[EP_SPATIAL];
    int64_t stride[EP_SPATIAL];
    int64_t dilation[EP_SPATIAL];
} ep_windows;

/* Each of `groups` groups of an image makes `made` channels of y from `channels` channels of x, the first of which has
 * these windows. A piece, `lines` windows along the first dimension, is made at one time, in `room` bytes of scratch
 * for each of at most `parts` threads. Strides, steps and offsets count bytes. */
typedef struct {
    const ep_row* row;
    int32_t place[EP_CONVOLUTION_PLACES + 1];
    int32_t keeps_weights; /* they are read where they lie: as they are computed with, in the order of their sums */
    int32_t parts;
    int64_t images;
    int64_t groups;
    int64_t made;
    int64_t channels;
    int64_t lines;
    int64_t room;
    int64_t divisor; /* 0: as many as a window has elements of x, from `counted[0]` on, below `counted[1]` */
    int64_t work;    /* bytes that would take as long to move */
    int64_t offset[EP_CONVOLUTION_PLACES];
    int64_t image[EP_CONVOLUTION_PLACES];
    int64_t group[EP_CONVOLUTION_PLACES];
    int64_t channel_made[EP_CONVOLUTION_PLACES];
    ep_windows windows;
    int64_t w_channel; /* from the weights of one channel of x to those of the next */
    int64_t w_step[EP_SPATIAL];
    int64_t y_step[EP_SPATIAL];
    int64_t counted[2][EP_SPATIAL];
} ep_convolution_plan;
