// out = where the best element of each row lies: a group a row. Of equal ones the first is the best.
kernel void arg_reduce(PARAMETERS, OUT_PARAMETER) {
    local X_VALUE values[GROUP];
    local size_t places[GROUP];
    const size_t row = get_group_id(0), lane = get_local_id(0);
    size_t best = lane < WIDTH ? lane : 0;
    X_VALUE value = X(PLACE(best));
    for (size_t i = lane + GROUP; i < WIDTH; i += GROUP) {
        const X_VALUE v = X(PLACE(i));
        if (IS_BETTER(v, value)) value = v, best = i;
    }
    values[lane] = value;
    places[lane] = best;
    for (size_t left = GROUP / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < left) {
            const size_t other = lane + left;
            const bool is_equal = values[other] == values[lane];
            if (IS_BETTER(values[other], values[lane]) || (is_equal && places[other] < places[lane])) {
                values[lane] = values[other];
                places[lane] = places[other];
            }
        }
    }
    best = places[0];
    if (lane == 0) SET_OUT(row, RESULT);
}
