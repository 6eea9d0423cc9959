// y = each row of x less its mean, over its deviation, with a scale and a bias by CHANNEL: a group a row.
kernel void layer_norm(X_PARAMETER, SCALE_PARAMETER, BIAS_PARAMETER, Y_PARAMETER) {
    local NUMBER part[GROUP];
    const size_t row = get_group_id(0), first = row * WIDTH, lane = get_local_id(0);
    NUMBER sum = 0, squares = 0;
    for (size_t i = lane; i < WIDTH; i += GROUP) sum += X(first + i);
    const NUMBER mean = sum_of_group(part, sum) / WIDTH;
    for (size_t i = lane; i < WIDTH; i += GROUP) {
        const NUMBER d = X(first + i) - mean;
        squares += d * d;
    }
    const NUMBER factor = rsqrt(sum_of_group(part, squares) / WIDTH + (NUMBER)EPSILON);
    for (size_t i = lane; i < WIDTH; i += GROUP)
        SET_Y(first + i, (X(first + i) - mean) * factor * SCALE(CHANNEL) + BIAS(CHANNEL));
}
