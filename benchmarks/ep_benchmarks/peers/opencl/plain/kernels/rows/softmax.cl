// out = the exponentials of each row over their sum: a group a row.
kernel void softmax(X_PARAMETER, OUT_PARAMETER) {
    local NUMBER part[GROUP];
    const size_t first = get_group_id(0) * WIDTH, lane = get_local_id(0);
    NUMBER largest = -INFINITY, sum = 0;
    for (size_t i = lane; i < WIDTH; i += GROUP) {
        const NUMBER v = X(first + i);
        largest = v > largest ? v : largest;
    }
    largest = max_of_group(part, largest);
    for (size_t i = lane; i < WIDTH; i += GROUP) {
        const NUMBER e = exp(X(first + i) - largest);
        sum += e;
        SET_OUT(first + i, e);
    }
    sum = sum_of_group(part, sum);
    for (size_t i = lane; i < WIDTH; i += GROUP) SET_OUT(first + i, OUT(first + i) / sum);
}
