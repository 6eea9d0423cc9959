// out = the sum of several tensors.
kernel void add_n(PARAMETERS, OUT_PARAMETER) {
    const size_t i = get_global_id(0);
    SET_OUT(i, SUM);
}
