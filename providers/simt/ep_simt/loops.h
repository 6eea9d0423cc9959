// Who visits which element. A dense program visits n elements in order; a strided one the merged geometry, each
// work-item `run` neighbours of the innermost dimension. The launcher chooses group size and run.

#define EP_MAX_RANK 16
#define EP_MAX_OPERANDS 3

#if EP_STRIDED

// Innermost dimension first. `chunks` work-items share a row, `items` is all of them.
typedef struct {
    ep_index rank, run, chunks, items;
    ep_index shape[EP_MAX_RANK];
    ep_index stride[EP_MAX_OPERANDS][EP_MAX_RANK];
} ep_geometry;

#define EP_GEOMETRY EP_BY_VALUE(ep_geometry) geometry

#define EP_FOR_EACH(statement)                                                          \
    const ep_i64 item = EP_GROUP_ID(x) * EP_LOCAL_SIZE(x) + EP_LOCAL_ID(x);             \
    if (item < geometry.items) {                                                        \
        ep_index row = (ep_index)item / geometry.chunks;                                \
        const ep_index first = ((ep_index)item - row * geometry.chunks) * geometry.run; \
        const ep_index left = geometry.shape[0] - first;                                \
        ep_index at0 = first * geometry.stride[0][0];                                   \
        ep_index at1 = first * geometry.stride[1][0];                                   \
        ep_index at2 = first * geometry.stride[2][0];                                   \
        for (int axis = 1; axis < geometry.rank; ++axis) {                              \
            const ep_index outer = row / geometry.shape[axis];                          \
            const ep_index i = row - outer * geometry.shape[axis];                      \
            at0 += i * geometry.stride[0][axis];                                        \
            at1 += i * geometry.stride[1][axis];                                        \
            at2 += i * geometry.stride[2][axis];                                        \
            row = outer;                                                                \
        }                                                                               \
        for (ep_index i = left < geometry.run ? left : geometry.run; i > 0; --i) {      \
            statement;                                                                  \
            at0 += geometry.stride[0][0];                                               \
            at1 += geometry.stride[1][0];                                               \
            at2 += geometry.stride[2][0];                                               \
        }                                                                               \
    }

#else

#define EP_GEOMETRY const ep_i64 n

// The groups that are full ask once, so that compilers for CPUs make vectors of their work-items.
#define EP_FOR_EACH(statement)                                       \
    const ep_i64 start = EP_GROUP_ID(x) * EP_LOCAL_SIZE(x);          \
    const ep_i64 at0 = start + EP_LOCAL_ID(x), at1 = at0, at2 = at0; \
    if (start + EP_LOCAL_SIZE(x) <= n) {                             \
        statement;                                                   \
    } else if (at0 < n) {                                            \
        statement;                                                   \
    }

#endif

// Attributes of a row by name: EP_A1(alpha) calls the first attribute alpha.
#define EP_A0
#define EP_A1(first) const EP_P first = p0;
#define EP_A2(first, second) const EP_P first = p0, second = p1;
