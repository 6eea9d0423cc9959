// out = x's parts of WIDTH elements at indices: i counts elements, j indices, k the parts before the axis.
kernel void gather(X_PARAMETER, INDICES_PARAMETER, OUT_PARAMETER) {
    const size_t i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    SET_OUT((k * get_global_size(1) + j) * WIDTH + i, X((k * EXTENT + INDICES(j)) * WIDTH + i));
}
