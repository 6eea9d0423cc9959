// out = an op of x; also its conversion to another type.
kernel void unary(X_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0);
    const X_VALUE v = X(i);
    SET_OUT(i, RESULT);
}
