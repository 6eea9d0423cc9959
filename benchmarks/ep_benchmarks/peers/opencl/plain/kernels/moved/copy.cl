// out = x, both dense.
kernel void copy(X_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0);
    SET_OUT(i, X(i));
}
