// out = x, whose dimensions lie in another order, or apart.
kernel void strided(X_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    SET_OUT(OUT_AT, X(X_AT));
}
