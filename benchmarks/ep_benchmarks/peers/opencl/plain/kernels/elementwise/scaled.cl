// out = x in steps of one scale, or back.
kernel void scaled(X_PARAMETER, SCALE_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0);
    SET_OUT(i, RESULT);
}
