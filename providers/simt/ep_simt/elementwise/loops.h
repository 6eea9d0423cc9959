// Which work-item visits which element: each visits `run` neighbours. The launcher chooses the run: one where
// neighbouring work-items read memory together, many where a work-item is a loop of its own, which compilers then make
// vectors of.

#define EP_MAX_RANK 16
#define EP_MAX_OPERANDS 5

// Innermost dimension first. `chunks` work-items share a row, `items` is all of them.
typedef struct {
    ep_index rank, run, chunks, items;
    ep_index shape[EP_MAX_RANK];
    ep_index stride[EP_MAX_OPERANDS][EP_MAX_RANK];
} ep_geometry;

// The run of a work-item, empty for those beyond the last, and where it begins in each operand. Short rows take as long
// as the divisions that find them, so none is made that is not needed.
#define EP_RUN_STRIDED                                                                                          \
    const ep_i64 item = EP_GROUP_ID(x) * EP_LOCAL_SIZE(x) + EP_LOCAL_ID(x);                                     \
    ep_index row = geometry.chunks == 1 ? (ep_index)item : (ep_index)item / geometry.chunks;                    \
    const ep_index first = ((ep_index)item - row * geometry.chunks) * geometry.run;                             \
    const ep_index left = geometry.shape[0] - first;                                                            \
    const ep_index count = item >= geometry.items ? 0 : left < geometry.run ? left : geometry.run;              \
    const ep_index step0 = geometry.stride[0][0], step1 = geometry.stride[1][0];                                \
    const ep_index step2 = geometry.stride[2][0], step3 = geometry.stride[3][0], step4 = geometry.stride[4][0]; \
    ep_index from0 = first * step0, from1 = first * step1, from2 = first * step2;                               \
    ep_index from3 = first * step3, from4 = first * step4;                                                      \
    for (int axis = 1; axis < geometry.rank; ++axis) {                                                          \
        const ep_index outer = axis == geometry.rank - 1 ? 0 : row / geometry.shape[axis];                      \
        const ep_index i = row - outer * geometry.shape[axis];                                                  \
        from0 += i * geometry.stride[0][axis];                                                                  \
        from1 += i * geometry.stride[1][axis];                                                                  \
        from2 += i * geometry.stride[2][axis];                                                                  \
        from3 += i * geometry.stride[3][axis];                                                                  \
        from4 += i * geometry.stride[4][axis];                                                                  \
        row = outer;                                                                                            \
    }

#define EP_EACH_STRIDED(statement)                                                                \
    EP_INDEPENDENT                                                                                \
    for (ep_index i = 0; i < count; ++i) {                                                        \
        const ep_index at0 = from0 + i * step0, at1 = from1 + i * step1;                          \
        const ep_index at2 = from2 + i * step2, at3 = from3 + i * step3, at4 = from4 + i * step4; \
        statement;                                                                                \
    }

// The same where the elements of a run are neighbours in every operand that the statement names: compilers do not find
// out by themselves.
#define EP_EACH_NEIGHBOUR(statement)                                                                        \
    EP_INDEPENDENT                                                                                          \
    for (ep_index i = 0; i < count; ++i) {                                                                  \
        const ep_index at0 = from0 + i, at1 = from1 + i, at2 = from2 + i, at3 = from3 + i, at4 = from4 + i; \
        statement;                                                                                          \
    }

#define EP_RUN_DENSE                                                                 \
    const ep_i64 first = (EP_GROUP_ID(x) * EP_LOCAL_SIZE(x) + EP_LOCAL_ID(x)) * run; \
    const ep_i64 end = n - first < run ? n : first + run;

#define EP_EACH_DENSE(statement)                                  \
    EP_INDEPENDENT                                                \
    for (ep_i64 i = first; i < end; ++i) {                        \
        const ep_i64 at0 = i, at1 = i, at2 = i, at3 = i, at4 = i; \
        statement;                                                \
    }

// Both at once, where a run is one loop.
#define EP_FOR_EACH_STRIDED(statement) EP_RUN_STRIDED EP_EACH_STRIDED(statement)
#define EP_FOR_EACH_DENSE(statement) EP_RUN_DENSE EP_EACH_DENSE(statement)

// In programs with entries of one kind.
#if EP_STRIDED
#define EP_FOR_EACH EP_FOR_EACH_STRIDED
#else
#define EP_FOR_EACH EP_FOR_EACH_DENSE
#endif
