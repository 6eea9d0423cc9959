// What all kernels of a product share: how it lies, its elements as numbers, and what becomes of a sum. Columns of the
// geometry are a, b, bias, out; along are the batches that are summed, across the matrices of out. A complex number is
// two parts that lie side by side, which the kernels hold apart.

typedef struct {
    ep_index m, n, k;
    ep_index a_row, a_column, b_row, b_column, bias_row, bias_column, out_row, out_column;
    // The depth is all of k of all batches that are summed, in blocks that lie in one batch each. Each block is summed
    // for itself: rounding errors stay small, and products of bytes exact in float32. A part is `share` of the
    // `blocks`.
    ep_index blocks, parts, share;
    ep_index conjugate_a, conjugate_b, has_bias;
    ep_index a_runs_deep, b_runs_deep;  // 1 where neighbours in memory are neighbours along the depth
} ep_product;

// Columns of a tile.
#define EP_TILE_COLUMNS (EP_ACROSS * EP_BLOCK_COLUMNS)

// Declares a factor by its place in a or b, and adds a term to a sum.
#define EP_FACTOR(x, name, place) EP_FACTOR_OF(x, name, place, product.conjugate_##name)
#define EP_TERM(s, x, y) EP_TERM_BY(ep_multiply_add, s, x, y)

// Visits the blocks of a part, each of a known depth: `summed` is the batch, `begin` the first of `deep` elements along
// k.
#define EP_EACH_STEP(depth)                                                                             \
    const ep_index in_k = (product.k - 1) / (depth) + 1;                                                \
    const ep_index last = EP_IS_ZERO(alpha) ? 0 : ep_least(product.blocks, (part + 1) * product.share); \
    for (ep_index step = part * product.share; step < last; ++step)
#define EP_STEP(depth)                                                                             \
    const ep_index summed = step / in_k, begin = step % in_k * (depth);                            \
    const ep_index deep = ep_least(product.k - begin, (depth));                                    \
    const ep_i64 a_here = a_from + ep_in_row(&rows, 0, summed) + (ep_i64)begin * product.a_column; \
    const ep_i64 b_here = b_from + ep_in_row(&rows, 1, summed) + (ep_i64)begin * product.b_row;

// Makes the element of a row and a column of a total, which lies `out_column` elements on in a row of out; their matrix
// begins at out_from, and its bias at bias_from. A family whose out is no matrix has an EP_OUT_COLUMN of its own.
#define EP_PLACE(name) (name##_from + (row * product.name##_row + column * product.name##_column))
#define EP_OUT_COLUMN (column * product.out_column)
#define EP_PLACE_OF_OUT(out_column) (out_from + (row * product.out_row + (out_column)))
#if EP_PARTS == 2
#define EP_IS_ZERO(number) (number == 0 && number##_im == 0)
#define EP_FINISH(total, out_column)                                                                 \
    {                                                                                                \
        const ep_i64 to = 2 * EP_PLACE_OF_OUT(out_column), at = 2 * EP_PLACE(bias);                  \
        EP_C x = alpha * total(0) - alpha_im * total(1), y = alpha * total(1) + alpha_im * total(0); \
        if (!EP_IS_ZERO(beta)) {                                                                     \
            const EP_C was = EP_LOAD_out(to), was_im = EP_LOAD_out(to + 1);                          \
            x += beta * was - beta_im * was_im, y += beta * was_im + beta_im * was;                  \
        }                                                                                            \
        if (product.has_bias) x += EP_LOAD_bias(at), y += EP_LOAD_bias(at + 1);                      \
        EP_STORE_out(to, x);                                                                         \
        EP_STORE_out(to + 1, y);                                                                     \
    }
#else
#define EP_IS_ZERO(number) (number == 0)
#define EP_FINISH(total, out_column)                                            \
    {                                                                           \
        const ep_i64 to = EP_PLACE_OF_OUT(out_column);                          \
        EP_C x = EP_TIMES(alpha, total(0));                                     \
        if (!EP_IS_ZERO(beta)) x = EP_PLUS(x, EP_TIMES(beta, EP_LOAD_out(to))); \
        if (product.has_bias) x = EP_PLUS(x, EP_LOAD_bias(EP_PLACE(bias)));     \
        EP_STORE_out(to, EP_ACTIVATED);                                         \
    }
#endif

// Finishes a total, or, where it is a part of one, leaves it in scratch.
#define EP_LEAVE(total, out_column)                                                                                   \
    if (product.parts == 1) {                                                                                         \
        EP_FINISH(total, out_column)                                                                                  \
    } else {                                                                                                          \
        _Pragma("unroll") for (int p = 0; p < EP_PARTS; ++p) EP_STORE_parts(                                          \
            ((((ep_i64)part * rows.rows + matrix) * product.m + row) * product.n + column) * EP_PARTS + p, total(p)); \
    }
