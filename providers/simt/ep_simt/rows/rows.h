// How rows lie: of each of EP_COLUMNS tensors the strides along the dimensions of a row, then across those that number
// the rows, all innermost first. There is one dimension at least of both kinds.

// One more than tensors have: a row may be all dimensions, or none.
#define EP_MAX_RANK 17

typedef struct {
    ep_index along, across, extent, rows;
    ep_index shape[EP_MAX_RANK];
    ep_index stride[EP_COLUMNS][EP_MAX_RANK];
} ep_rows;

// Where element `number` lies, counted along dimensions `first` to `last`.
EP_FN_APART ep_i64 ep_place_across(const ep_rows* rows, int column, ep_index number, ep_index first, ep_index last) {
    ep_i64 place = 0;
    for (ep_index axis = first; axis < last; ++axis) {
        const ep_index outer = number / rows->shape[axis];
        place += (ep_i64)(number - outer * rows->shape[axis]) * rows->stride[column][axis];
        number = outer;
    }
    return place + (ep_i64)number * rows->stride[column][last];
}

// The same; most often there is one dimension.
EP_FN ep_i64 ep_place(const ep_rows* rows, int column, ep_index number, ep_index first, ep_index last) {
    if (first < last) return ep_place_across(rows, column, number, first, last);
    return (ep_i64)number * rows->stride[column][last];
}

// Where a row begins in a tensor, in elements.
EP_FN ep_i64 ep_row_at(const ep_rows* rows, int column, ep_index number) {
    return ep_place(rows, column, number, rows->along, rows->along + rows->across - 1);
}

// Where an element of a row lies from there.
EP_FN ep_i64 ep_in_row(const ep_rows* rows, int column, ep_index number) {
    return ep_place(rows, column, number, 0, rows->along - 1);
}
