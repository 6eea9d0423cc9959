// out = the elements of each row of x joined: a group a row.
kernel void reduce(X_PARAMETER, OUT_PARAMETER) {
    local NUMBER part[GROUP];
    const size_t row = get_group_id(0), lane = get_local_id(0);
    NUMBER own = INITIAL;
    for (size_t i = lane; i < WIDTH; i += GROUP) {
        const NUMBER v = X(row * WIDTH + i);
        own = JOIN(own, TERM);
    }
    const NUMBER joined = OF_GROUP(part, own);
    if (lane == 0) SET_OUT(row, RESULT);
}
