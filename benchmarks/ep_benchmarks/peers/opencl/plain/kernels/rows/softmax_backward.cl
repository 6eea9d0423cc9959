// out = the gradient of a softmax or of its logarithm, from its own result y: a group a row.
kernel void softmax_backward(DY_PARAMETER, Y_PARAMETER, OUT_PARAMETER) {
    local NUMBER part[GROUP];
    const size_t first = get_group_id(0) * WIDTH, lane = get_local_id(0);
    NUMBER sum = 0;
    for (size_t i = first + lane; i < first + WIDTH; i += GROUP) sum += TERM;
    sum = sum_of_group(part, sum);
    for (size_t i = first + lane; i < first + WIDTH; i += GROUP) SET_OUT(i, RESULT);
}
