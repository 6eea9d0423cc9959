// out = the elements of each column of x joined: a work-item a column.
kernel void columns(X_PARAMETER, OUT_PARAMETER) {
    const size_t column = get_global_id(0);
    NUMBER joined = INITIAL;
    for (size_t i = 0; i < HEIGHT; ++i) {
        const NUMBER v = X(i * WIDTH + column);
        joined = JOIN(joined, TERM);
    }
    SET_OUT(column, RESULT);
}
