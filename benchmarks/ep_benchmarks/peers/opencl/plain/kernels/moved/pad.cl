// out = images x with a border: i counts columns, j rows, k images.
size_t reflected(const size_t at, const size_t before, const size_t extent) {
    return at < before ? before - at : at < before + extent ? at - before : 2 * extent - 2 - (at - before);
}

kernel void pad(PARAMETERS, OUT_PARAMETER) {
    const size_t i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    const size_t column = i - LEFT, row = j - TOP;  // before the image they are beyond it, too
    SET_OUT((k * get_global_size(1) + j) * get_global_size(0) + i, RESULT);
}
