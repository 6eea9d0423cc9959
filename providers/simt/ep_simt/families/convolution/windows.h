// Windows of an image as a matrix: its columns are the places of the output, its rows the terms of a sum, elements of a
// window in a channel. Where an element lies is a sum of what its row and its column say, as a coordinate of x in each
// spatial dimension, and as a number of elements. Those outside of x are zeros.

// What the numbers of terms or of places stand for in each dimension: number factor + origin.
typedef struct {
    ep_index extent[EP_SPATIAL], factor[EP_SPATIAL], origin[EP_SPATIAL];
} ep_numbered;

// Elements from one channel of x to the next, from one element to the next in each dimension, and from one place of y
// to the next, which need not lie as a matrix.
typedef struct {
    ep_numbered terms, places;
    ep_index extent[EP_SPATIAL], step[EP_SPATIAL], out_step[EP_SPATIAL];
    ep_index channel;
} ep_windows;

#define EP_INNERMOST (EP_SPATIAL - 1)
#define EP_EACH_AXIS _Pragma("unroll") for (int axis = EP_INNERMOST; axis >= 0; --axis)

// The coordinate that a number stands for in a dimension.
EP_FN ep_index ep_moved(const ep_numbered* of, const int axis, const ep_index number) {
    return number * of->factor[axis] + of->origin[axis];
}

// Writes where a term or a place begins: elements, then coordinates, `pitch` apart.
EP_FN void ep_number(const ep_windows* windows, const ep_numbered* of, ep_index number, EP_SHARED_PTR(ep_i32) to,
                     const int pitch) {
    ep_index at = 0;
    EP_EACH_AXIS {
        const ep_index moved = ep_moved(of, axis, number % of->extent[axis]);
        to[(axis + 1) * pitch] = (ep_i32)moved;
        at += moved * windows->step[axis];
        number /= of->extent[axis];
    }
    to[0] = (ep_i32)(at + number * windows->channel);
}

// Where a place of y lies in its channel; tiles have a table for their columns.
EP_FN ep_index ep_out_column(const ep_windows* windows, ep_index number) {
    ep_index at = 0;
    EP_EACH_AXIS {
        at += number % windows->places.extent[axis] * windows->out_step[axis];
        number /= windows->places.extent[axis];
    }
    return at;
}
#undef EP_OUT_COLUMN
#define EP_OUT_COLUMN ep_out_column(&layout, column)
#define EP_OUT_COLUMN_OF_TILE out_columns[column - first_column]

// Declares which of `count` neighbours in the innermost dimension, the first of them at a coordinate, lie in x: from
// `low` on, below `high`; none unless `inside`. They are `step` elements apart.
EP_FN ep_index ep_parts_of(ep_index count, ep_index length) {
    return length == 1 ? count : (count - 1) / length + 1;
}
#define EP_WITHIN(first, count)                                                                              \
    const ep_index apart = windows->places.factor[EP_INNERMOST], step = apart * windows->step[EP_INNERMOST]; \
    const ep_index beyond = inside ? windows->extent[EP_INNERMOST] - (first) : 0;                            \
    const ep_index high = beyond > 0 ? ep_least(count, ep_parts_of(beyond, apart)) : 0;                      \
    const ep_index low = ep_least(high, (first) < 0 ? ep_parts_of(-(first), apart) : 0);
// Visits them; neighbours in memory are worth a loop of vectors, one by one: several at once would leave most of a line
// over.
#if defined(__clang__) && EP_GROUP == 1 && !defined(EP_INTERPRETED)
#define EP_EACH_VECTOR _Pragma("clang loop vectorize(assume_safety) interleave_count(1)")
#else
#define EP_EACH_VECTOR EP_INDEPENDENT
#endif
#define EP_EACH_WITHIN(statement)                                    \
    if (step == 1) {                                                 \
        EP_EACH_VECTOR                                               \
        for (ep_index c = low; c < high; ++c) {                      \
            const EP_A x = (EP_A)EP_LOAD_b(from + c);                \
            statement;                                               \
        }                                                            \
    } else {                                                         \
        EP_ROLLED                                                    \
        for (ep_index c = low; c < high; ++c) {                      \
            const EP_A x = (EP_A)EP_LOAD_b(from + (ep_i64)c * step); \
            statement;                                               \
        }                                                            \
    }

// Alone, a work-item has its arrays one after the other, and of whole lines: if one begins a line, all do, and no
// vector lies in two.
#if EP_GROUP == 1
#define EP_OF_LINES __attribute__((aligned(64)))
#else
#define EP_OF_LINES
#endif

// What tiles of products ask for: tables of where their columns and the rows of a block begin, where columns of out
// lie, and these rows.
#define EP_TABLES                                                            \
    EP_SHARED_ARRAY(ep_i32, terms, (EP_SPATIAL + 1) * EP_DEPTH) EP_OF_LINES; \
    EP_SHARED_ARRAY(ep_i32, places, (EP_SPATIAL + 1) * EP_TILE_COLUMNS);     \
    EP_SHARED_ARRAY(ep_i32, out_columns, EP_TILE_COLUMNS);                   \
    const ep_windows* windows = &layout;
#define EP_NUMBER_COLUMNS                                                                                             \
    EP_ROLLED for (ep_index column = first_column + lane; column < first_column + columns_here; column += EP_GROUP) { \
        ep_number(windows, &windows->places, column, places + (column - first_column), EP_TILE_COLUMNS);              \
        out_columns[column - first_column] = (ep_i32)ep_out_column(windows, column);                                  \
    }
#define EP_BRING_RIGHT                                                       \
    EP_ROLLED for (int d = lane; d < deep; d += EP_GROUP)                    \
        ep_number(windows, &windows->terms, begin + d, terms + d, EP_DEPTH); \
    EP_BARRIER();                                                            \
    ep_bring_windows(b, b_at + b_from, windows, lane, terms, (int)deep, places, first_column, (int)columns_here, right);

#define EP_COORDINATE(axis) (terms[((axis) + 1) * EP_DEPTH + d] + places[((axis) + 1) * EP_TILE_COLUMNS + column])
#define EP_LANDS(axis) (EP_COORDINATE(axis) >= 0 && EP_COORDINATE(axis) < windows->extent[axis])

// Brings `deep` rows of so many columns into shared memory. A work-item of a group takes columns in turn, one alone all
// of a line of places.
EP_FN_APART void ep_bring_windows(EP_GLOBAL const EP_GIVEN* b, const ep_i64 b_at, const ep_windows* windows,
                                  const int lane, EP_SHARED_PTR(const ep_i32) terms, const int deep,
                                  EP_SHARED_PTR(const ep_i32) places, const ep_index first_column, const int columns,
                                  EP_SHARED_PTR(EP_A) right) {
#if EP_GROUP == 1
    const ep_index length = windows->places.extent[EP_INNERMOST];
    const int begun = (int)ep_least(columns, length - first_column % length);
    for (int d = 0; d < deep; ++d) {
        for (int column = 0, count = begun; column < columns;
             column += count, count = (int)ep_least(columns - column, length)) {
            EP_SHARED_PTR(EP_A) line = right + d * EP_RIGHT_PITCH + column;
            bool inside = true;
#pragma unroll
            for (int axis = 0; axis < EP_INNERMOST; ++axis) inside = inside && EP_LANDS(axis);
            const ep_i64 from = (ep_i64)terms[d] + places[column];
            EP_WITHIN(EP_COORDINATE(EP_INNERMOST), count)
            for (ep_index c = 0; c < low; ++c) line[c] = 0;
            EP_EACH_WITHIN(line[c] = x)
            for (ep_index c = high; c < count; ++c) line[c] = 0;
        }
    }
#else
    const int across = EP_SPAN(EP_TILE_COLUMNS);
    for (int d = lane / across; d < deep; d += EP_GROUP / across) {
        for (int column = lane % across; column < columns; column += across) {
            bool inside = true;
            EP_EACH_AXIS inside = inside && EP_LANDS(axis);
            EP_A x = 0;
            if (inside) x = (EP_A)EP_LOAD_b((ep_i64)terms[d] + places[column]);
            right[d * EP_RIGHT_PITCH + column] = x;
        }
    }
#endif
}
