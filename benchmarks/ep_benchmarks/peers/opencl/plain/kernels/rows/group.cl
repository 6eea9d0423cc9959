// The sum and the largest of one number of each work-item of a group: trees in local memory.
NUMBER sum_of_group(local NUMBER *part, const NUMBER own) {
    const size_t lane = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    part[lane] = own;
    for (size_t left = GROUP / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < left) part[lane] += part[lane + left];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return part[0];
}

NUMBER max_of_group(local NUMBER *part, const NUMBER own) {
    const size_t lane = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    part[lane] = own;
    for (size_t left = GROUP / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < left) part[lane] = max(part[lane], part[lane + left]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return part[0];
}
