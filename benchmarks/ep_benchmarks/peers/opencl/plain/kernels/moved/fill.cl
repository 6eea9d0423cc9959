// out = a number, that of a tensor of one element, or one that counts.
kernel void fill(PARAMETERS, OUT_PARAMETER) {
    const size_t i = get_global_id(0);
    SET_OUT(i, RESULT);
}
