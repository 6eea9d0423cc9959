// Which work-item visits which element: each visits `run` neighbours. The launcher chooses the run: one where
// neighbouring work-items read memory together, many where a work-item is a loop of its own, which compilers then make
// vectors of.

#define EP_MAX_RANK 16
#define EP_MAX_OPERANDS 5

// Innermost dimension first. A row is cut into `chunks` runs, `items` is all runs; a work-item takes `batch` one after
// the other: along a row, or across the `rows` if that is not 0.
typedef struct {
    ep_index rank, run, chunks, rows, items, batch;
    ep_index shape[EP_MAX_RANK];
    ep_index stride[EP_MAX_OPERANDS][EP_MAX_RANK];
} ep_geometry;

// Before a block: once for each run of a work-item.
#define EP_RUNS_STRIDED                                                                                                \
    const ep_i64 first_item = (EP_GROUP_ID(x) * EP_LOCAL_SIZE(x) + EP_LOCAL_ID(x)) * geometry.batch;                   \
    const ep_i64 beyond = first_item + geometry.batch < geometry.items ? first_item + geometry.batch : geometry.items; \
    EP_ROLLED                                                                                                          \
    for (ep_i64 item = first_item; item < beyond; ++item)

// The row of a run, and the number of its first element there.
#define EP_ROW_AND_FIRST                                                       \
    const ep_index each = geometry.rows > 0 ? geometry.rows : geometry.chunks; \
    const ep_index part = each == 1 ? (ep_index)item : (ep_index)item / each;  \
    const ep_index rest = (ep_index)item - part * each;                        \
    ep_index row = geometry.rows > 0 ? rest : part;                            \
    const ep_index first = (geometry.rows > 0 ? part : rest) * geometry.run;

// In that block: the run, and where it begins in each operand. Short rows take as long as the divisions that find them,
// so none is made that is not needed.
#define EP_RUN_STRIDED                                                                                          \
    EP_ROW_AND_FIRST                                                                                            \
    const ep_index left = geometry.shape[0] - first;                                                            \
    const ep_index count = left < geometry.run ? left : geometry.run;                                           \
    const ep_index step0 = geometry.stride[0][0], step1 = geometry.stride[1][0];                                \
    const ep_index step2 = geometry.stride[2][0], step3 = geometry.stride[3][0], step4 = geometry.stride[4][0]; \
    ep_index from0 = first * step0, from1 = first * step1, from2 = first * step2;                               \
    ep_index from3 = first * step3, from4 = first * step4;                                                      \
    EP_ROLLED                                                                                                   \
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

// Compilers would make vectors for steps that they guess, and a loop like this one beside them.
#define EP_EACH_STRIDED(statement)                                                                \
    EP_ROLLED                                                                                     \
    for (ep_index i = 0; i < count; ++i) {                                                        \
        const ep_index at0 = from0 + i * step0, at1 = from1 + i * step1;                          \
        const ep_index at2 = from2 + i * step2, at3 = from3 + i * step3, at4 = from4 + i * step4; \
        statement;                                                                                \
    }

// Before a block with a loop from `block` to EP_BLOCK_END(beyond) over neighbours. Processors that foresee few lines of
// memory by themselves take such loops in parts, and ask for lines of a later one before each: EP_AHEAD_tt and the like
// say of which tensors.
#ifdef EP_PREFETCH
#define EP_BLOCK (512 / (int)sizeof(EP_C))
#define EP_BLOCKS(T, begin, beyond) \
    EP_ROLLED                       \
    for (T block = begin; block < beyond; block += EP_BLOCK)
#define EP_BLOCK_END(beyond) (beyond - block < EP_BLOCK ? beyond : block + EP_BLOCK)
// Bytes: twice or four times as many are as good.
#define EP_FAR 2048
#define EP_LINES_AHEAD(fetch, x, k)                                           \
    EP_UNROLLED                                                               \
    for (int at = EP_FAR; at < EP_FAR + EP_BLOCK * (int)sizeof(*x); at += 64) \
        fetch(x + (x##_at + from##k + block + at / (int)sizeof(*x)));
#define EP_READS(x, k) EP_LINES_AHEAD(EP_PREFETCH, x, k)
#define EP_WRITES(x, k) EP_LINES_AHEAD(EP_PREFETCH_TO, x, k)
#else
#define EP_BLOCKS(T, begin, beyond) for (T block = begin; block < beyond; block = beyond)
#define EP_BLOCK_END(beyond) beyond
#define EP_READS(x, k)
#define EP_WRITES(x, k)
#endif

// The same where the elements of a run are neighbours in every operand that the statement names, of which the first two
// may be one element each: compilers do not find out by themselves.
#define EP_EACH_STEPPED(moves0, moves1, ahead, statement)                                      \
    EP_BLOCKS(ep_index, 0, count) {                                                            \
        ahead;                                                                                 \
        EP_INDEPENDENT                                                                         \
        for (ep_index i = block; i < EP_BLOCK_END(count); ++i) {                               \
            const ep_index at0 = moves0 ? from0 + i : from0, at1 = moves1 ? from1 + i : from1; \
            const ep_index at2 = from2 + i, at3 = from3 + i, at4 = from4 + i;                  \
            statement;                                                                         \
        }                                                                                      \
    }
#define EP_EACH_NEIGHBOUR(ahead, statement) EP_EACH_STEPPED(true, true, ahead, statement)

// The only run of a work-item over dense tensors.
#define EP_RUNS_DENSE
#define EP_RUN_DENSE                                                                 \
    const ep_i64 first = (EP_GROUP_ID(x) * EP_LOCAL_SIZE(x) + EP_LOCAL_ID(x)) * run; \
    const ep_i64 end = n - first < run ? n : first + run;

#define EP_EACH_DENSE(ahead, statement)                                     \
    {                                                                       \
        const ep_i64 from0 = 0, from1 = 0, from2 = 0, from3 = 0, from4 = 0; \
        EP_BLOCKS(ep_i64, first, end) {                                     \
            ahead;                                                          \
            EP_INDEPENDENT                                                  \
            for (ep_i64 i = block; i < EP_BLOCK_END(end); ++i) {            \
                const ep_i64 at0 = i, at1 = i, at2 = i, at3 = i, at4 = i;   \
                statement;                                                  \
            }                                                               \
        }                                                                   \
    }

// A run with any strides has two loops.
#define EP_OVER_RUN(are_neighbours, ahead, statement) \
    if (are_neighbours) {                             \
        EP_EACH_NEIGHBOUR(ahead, statement)           \
    } else {                                          \
        EP_EACH_STRIDED(statement)                    \
    }

// One value an element: where neighbours fetch together, all of a work-item's are fetched before any is put.
#if EP_SPREAD > 1
#define EP_MOVED(form, to, k, EACH, fetch, put) \
    EP_C fetched[EP_SPREAD];                    \
    EP_HOLD_ALL(form, EACH, fetched[i] = fetch) \
    EP_PUT_ALL(to, k, EACH, put(fetched[i]))
#define EP_MOVED_DENSE(form, k, fetch, put) \
    EP_PACKS_DENSE(form)                    \
    EP_MOVED(form, out, k, EP_EACH_SPREAD, fetch, put)
#define EP_MOVED_RUN(form, k, are_neighbours, fetch, put) \
    EP_PACKS_STRIDED(form)                                \
    EP_MOVED(form, out, k, EP_EACH_OF_RUN, fetch, put)
#else
#define EP_MOVED_DENSE(form, k, fetch, put) \
    EP_RUN_DENSE                            \
    EP_EACH_DENSE(EP_AHEAD_##form, put(fetch))
#define EP_MOVED_RUN(form, k, are_neighbours, fetch, put) EP_OVER_RUN(are_neighbours, EP_AHEAD_##form, put(fetch))
#endif
#define EP_MOVED_STRIDED(form, k, are_neighbours, fetch, put) \
    EP_RUNS_STRIDED {                                         \
        EP_RUN_STRIDED                                        \
        EP_MOVED_RUN(form, k, are_neighbours, fetch, put)     \
    }
