// Copies of rows and planes. Arrays, the opaque memory of textures, are not emulated.

#include "driver/pitched.h"

#include <algorithm>

#include "machine/heap.h"

namespace {

enum MemoryType { HOST = 1, DEVICE, ARRAY, UNIFIED };

// One side of a copy, as CUDA_MEMCPY3D of cuda.h has it.
struct Side {
    std::size_t x, y, z;
    int type;
    void* host;
    Address device;
    std::size_t pitch, height;

    Address start() const {
        Address base = type == HOST ? reinterpret_cast<Address>(host) : device;
        return base + x + pitch * (y + height * z);
    }
};

struct Box {
    std::size_t width, height, depth;
};

struct Copy2D {
    std::size_t src_x, src_y;
    int src_type;
    void* src_host;
    Address src_device;
    void* src_array;
    std::size_t src_pitch, dst_x, dst_y;
    int dst_type;
    void* dst_host;
    Address dst_device;
    void* dst_array;
    std::size_t dst_pitch, width, height;
};

bool is_inside(const Side& side, const Box& box) {
    if (side.type == HOST) return true;
    std::size_t rows = side.height * (box.depth - 1) + box.height - 1;
    return Heap::get().holds(side.start(), side.pitch * rows + box.width);
}

// Gives what is left out its meaning. Returns the driver's code.
int settle(Side& of, Side& to, const Box& box) {
    if (of.type == ARRAY || to.type == ARRAY) return NOT_SUPPORTED;
    for (Side* side : {&of, &to}) {
        side->pitch = side->pitch ? side->pitch : box.width;
        side->height = side->height ? side->height : box.height;
        if (side->pitch < box.width || !is_inside(*side, box)) return INVALID_VALUE;
    }
    return SUCCESS;
}

Work copying(const Side& of, const Side& to, const Box& box) {
    return [=](Context*) {
        for (std::size_t plane = 0; plane < box.depth; ++plane)
            for (std::size_t row = 0; row < box.height; ++row) {
                Address target = to.start() + to.pitch * (row + to.height * plane);
                std::copy_n(bytes_at(of.start() + of.pitch * (row + of.height * plane)), box.width, bytes_at(target));
                Heap::mark_written(target, box.width);
            }
        return SUCCESS;
    };
}

int copy(Side of, Side to, Box box, Stream* handle) {
    CURRENT(context);
    if (!box.width || !box.height || !box.depth) return SUCCESS;
    if (int code = settle(of, to, box)) return code;
    if (int code = enqueue(handle, Node::COPY, copying(of, to, box))) return code;
    // Memory of the host that is not locked is read, or written, before the call returns.
    auto is_loose = [](const Side& side) { return side.type == HOST && !Heap::get().find(side.start()).size; };
    Stream* stream = stream_of(handle, context);
    if ((is_loose(of) || is_loose(to)) && !stream->capture) stream->wait();
    return context->broken;
}

int copy_2d(const Copy2D* given, Stream* stream) {
    if (!given) return INVALID_VALUE;
    Side of = {given->src_x, given->src_y, 0, given->src_type, given->src_host, given->src_device, given->src_pitch, 0};
    Side to = {given->dst_x, given->dst_y, 0, given->dst_type, given->dst_host, given->dst_device, given->dst_pitch, 0};
    return copy(of, to, {given->width, given->height, 1}, stream);
}

Side source_of(const Copy3D& given) {
    return {given.src_x,    given.src_y,      given.src_z,     given.src_type,
            given.src_host, given.src_device, given.src_pitch, given.src_height};
}

Side target_of(const Copy3D& given) {
    return {given.dst_x,    given.dst_y,      given.dst_z,     given.dst_type,
            given.dst_host, given.dst_device, given.dst_pitch, given.dst_height};
}

int copy_3d(const Copy3D* given, Stream* stream) {
    if (!given) return INVALID_VALUE;
    return copy(source_of(*given), target_of(*given), {given->width, given->height, given->depth}, stream);
}

template <class Given>
int now(int (*copies)(const Given*, Stream*), const Given* given) {
    if (int code = copies(given, nullptr)) return code;
    CURRENT(context);
    stream_of(nullptr, context)->wait();
    return context->broken;
}

}  // namespace

int copying(const Copy3D& given, Work& work) {
    Side of = source_of(given), to = target_of(given);
    Box box = {given.width, given.height, given.depth};
    if (!box.width || !box.height || !box.depth) return INVALID_VALUE;
    if (int code = settle(of, to, box)) return code;
    work = copying(of, to, box);
    return SUCCESS;
}

extern "C" {

int cuMemcpy2D_v2(const Copy2D* given) {
    return now(copy_2d, given);
}
int cuMemcpy2DUnaligned_v2(const Copy2D* given) {
    return now(copy_2d, given);
}
int cuMemcpy2DAsync_v2(const Copy2D* given, Stream* stream) {
    return copy_2d(given, stream);
}
int cuMemcpy3D_v2(const Copy3D* given) {
    return now(copy_3d, given);
}
int cuMemcpy3DAsync_v2(const Copy3D* given, Stream* stream) {
    return copy_3d(given, stream);
}
int cuMemcpy3DPeer(const Copy3D* given) {
    return now(copy_3d, given);
}
int cuMemcpy3DPeerAsync(const Copy3D* given, Stream* stream) {
    return copy_3d(given, stream);
}
}
