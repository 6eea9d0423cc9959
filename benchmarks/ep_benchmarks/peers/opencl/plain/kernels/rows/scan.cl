// out = running sums of x: a work-item a row, of EXTENT elements that lie INNER apart.
kernel void scan(X_PARAMETER, OUT_PARAMETER) {
    const size_t row = get_global_id(0);
    const size_t first = row / INNER * INNER * EXTENT + row % INNER;
    OUT_VALUE sum = 0;
    for (size_t i = 0; i < EXTENT; ++i) {
        sum += X(first + i * INNER);
        SET_OUT(first + i * INNER, sum);
    }
}
