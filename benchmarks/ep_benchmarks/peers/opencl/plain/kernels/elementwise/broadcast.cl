// out = an op of a and b, one of which is repeated along a dimension.
kernel void broadcast(A_PARAMETER, B_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    const A_VALUE u = A(A_AT);
    const B_VALUE v = B(B_AT);
    SET_OUT(OUT_AT, RESULT);
}
