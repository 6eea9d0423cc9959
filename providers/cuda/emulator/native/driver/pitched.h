// Copies of boxes, as programs describe them.

#pragma once

#include "driver/graph.h"

// CUDA_MEMCPY3D of cuda.h.
struct Copy3D {
    std::size_t src_x, src_y, src_z, src_lod;
    int src_type;
    void* src_host;
    Address src_device;
    void *src_array, *src_context;
    std::size_t src_pitch, src_height, dst_x, dst_y, dst_z, dst_lod;
    int dst_type;
    void* dst_host;
    Address dst_device;
    void *dst_array, *dst_context;
    std::size_t dst_pitch, dst_height, width, height, depth;
};

// Makes the work of a copy. Returns the driver's code.
int copying(const Copy3D& given, Work& work);
