// out = where the best element of each column lies: a work-item a column.
kernel void arg_columns(X_PARAMETER, OUT_PARAMETER) {
    const size_t column = get_global_id(0);
    size_t best = 0;
    X_VALUE value = X(column);
    for (size_t i = 1; i < HEIGHT; ++i) {
        const X_VALUE v = X(i * WIDTH + column);
        if (IS_BETTER(v, value)) value = v, best = i;
    }
    SET_OUT(column, best);
}
