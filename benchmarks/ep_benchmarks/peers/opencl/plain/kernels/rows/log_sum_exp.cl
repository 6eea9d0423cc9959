// out = the logarithm of the sum of the exponentials of each row: a group a row. Of labels: less the label's element.
kernel void log_sum_exp(PARAMETERS, OUT_PARAMETER) {
    local NUMBER part[GROUP];
    const size_t row = get_group_id(0), first = row * WIDTH, lane = get_local_id(0);
    NUMBER largest = -INFINITY, sum = 0;
    for (size_t i = lane; i < WIDTH; i += GROUP) {
        const NUMBER v = X(first + i);
        largest = v > largest ? v : largest;
    }
    largest = max_of_group(part, largest);
    for (size_t i = lane; i < WIDTH; i += GROUP) sum += exp(X(first + i) - largest);
    sum = sum_of_group(part, sum);
    if (lane == 0) SET_OUT(row, largest + log(sum) - LESS);
}
