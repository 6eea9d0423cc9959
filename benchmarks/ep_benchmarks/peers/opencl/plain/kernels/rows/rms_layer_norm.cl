// y = each row of x over the root of its mean square, with a scale: a group a row.
kernel void rms_layer_norm(X_PARAMETER, SCALE_PARAMETER, Y_PARAMETER) {
    local NUMBER part[GROUP];
    const size_t first = get_group_id(0) * WIDTH, lane = get_local_id(0);
    NUMBER squares = 0;
    for (size_t i = lane; i < WIDTH; i += GROUP) squares += X(first + i) * X(first + i);
    const NUMBER factor = rsqrt(sum_of_group(part, squares) / WIDTH + (NUMBER)EPSILON);
    for (size_t i = lane; i < WIDTH; i += GROUP) SET_Y(first + i, X(first + i) * factor * SCALE(i));
}
