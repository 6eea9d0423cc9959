// out = an op of a and b, which are dense tensors or numbers.
kernel void binary(A_PARAMETER, B_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0);
    const A_VALUE u = A(i);
    const B_VALUE v = B(i);
    SET_OUT(i, RESULT);
}
