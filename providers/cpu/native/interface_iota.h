/* The C interface of Iota, a part of interface.h's. */

/* The numbers of a launch, each in the compute type. */
typedef struct {
    char start[16];
    char step[16];
} ep_iota_numbers;

/* One launch of an Iota. The geometry is of the numbers, which stay where they are, of the places, one byte a place
 * along the axis, and of out. */
typedef struct {
    const ep_geometry* geometry;
    intptr_t out;
    ep_iota_numbers numbers;
} ep_iota_packed;
/* The entry: `packed` is an ep_iota_packed. 0 is success. */
int ep_iota(const void* packed);
/* A checked launch. */
int ep_launch_iota(const ep_geometry* geometry, intptr_t out, const char* start, const char* step);
