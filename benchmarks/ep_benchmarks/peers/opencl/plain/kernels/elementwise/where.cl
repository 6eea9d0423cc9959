// out = a where the condition is true, else b.
kernel void where(CONDITION_PARAMETER, A_PARAMETER, B_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0);
    SET_OUT(i, CONDITION(i) ? A(i) : B(i));
}
