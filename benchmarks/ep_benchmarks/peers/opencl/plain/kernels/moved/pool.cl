// y = windows of images x joined: i counts columns, j rows, k images.
kernel void pool(X_PARAMETER, Y_PARAMETER) {
    const size_t i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    X_VALUE joined = INITIAL;
    for (size_t row = j * ROW_STRIDE; row < j * ROW_STRIDE + ROWS; ++row)
        for (size_t column = i * COLUMN_STRIDE; column < i * COLUMN_STRIDE + COLUMNS; ++column)
            joined = JOIN(joined, X((k * HEIGHT + row) * WIDTH + column));
    SET_Y((k * get_global_size(1) + j) * get_global_size(0) + i, RESULT);
}
