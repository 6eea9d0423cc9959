// out = a row of classes for each index: i counts classes, j indices.
kernel void one_hot(INDICES_PARAMETER, ON_PARAMETER, OFF_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0), j = get_global_id(1);
    SET_OUT(j * get_global_size(0) + i, i == INDICES(j) ? ON(0) : OFF(0));
}
