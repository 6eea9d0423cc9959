// The ways into the N-D loop of elementwise kernels.
#include "walk.h"

#include "count.h"
#include "pool.h"
#include "storage.h"

namespace {

// A launch as the walk sees it: places of all operands, the scalar's own storage among them.
struct Launch {
    const ep_geometry* geometry;
    char* at[EP_OPERANDS];
    int64_t part;  // elements
};

void store_number(int type, double value, void* storage) {
    const auto put = [storage](auto number) { std::memcpy(storage, &number, sizeof number); };
    switch (type) {
        case EP_bool:
            return put(static_cast<uint8_t>(value != 0));
        case EP_int8:
            return put(static_cast<int8_t>(value));
        case EP_int16:
            return put(static_cast<int16_t>(value));
        case EP_int32:
            return put(static_cast<int32_t>(value));
        case EP_uint8:
            return put(static_cast<uint8_t>(value));
        case EP_uint16:
            return put(static_cast<uint16_t>(value));
        case EP_uint32:
            return put(static_cast<uint32_t>(value));
        case EP_float32:
            return put(static_cast<float>(value));
        default:
            return put(value);
    }
}

void walk(const Launch& launch, int64_t begin, int64_t end) {
    const ep_geometry& g = *launch.geometry;
    ep::walk<EP_OPERANDS>(g.shape, g.stride, g.ndim, g.operands, launch.at, begin, end,
                          [&](char* const* at, const int64_t* step, int64_t n) { g.row->loop(&g, at, step, n); });
}

void walk_part(void* context, int i) {
    const auto& launch = *static_cast<const Launch*>(context);
    const int64_t begin = i * launch.part, size = launch.geometry->size;
    walk(launch, begin, size - begin < launch.part ? size : begin + launch.part);
}

int enter(Launch& launch) {
    const ep_geometry& g = *launch.geometry;
    ep::count_call();
    if (g.ndim == 0) {
        g.row->loop(&g, launch.at, g.itemsize, 1);
        return 0;
    }
    const int count = ep::parts(g.traffic);
    if (count <= 1) {
        walk(launch, 0, g.size);
        return 0;
    }
    // Whole lines of every dtype, so that two threads do not write one line of a dense output.
    launch.part = ((g.size + count - 1) / count + 63) / 64 * 64;
    ep::parallel(static_cast<int>((g.size + launch.part - 1) / launch.part), walk_part, &launch);
    return 0;
}

int enter_with_number(Launch& launch, double value) {
    alignas(8) char number[8];
    store_number(launch.geometry->scalar_type, value, number);
    launch.at[launch.geometry->scalar] = number;
    return enter(launch);
}

// Kernels only read inputs.
int enter_with_bytes(Launch& launch, const char* number) {
    launch.at[launch.geometry->scalar] = const_cast<char*>(number);
    return enter(launch);
}

char* place(const ep_geometry* geometry, int operand, intptr_t address) {
    return reinterpret_cast<char*>(address + geometry->offset[operand]);
}

}  // namespace

extern "C" int ep_elementwise(const void* packed) {
    const auto& p = *static_cast<const ep_packed*>(packed);
    Launch launch = {p.geometry, {}, 0};
    for (int k = 0; k < p.geometry->operands; ++k) launch.at[k] = place(p.geometry, k, p.at[k]);
    return p.geometry->scalar < 0 ? enter(launch) : enter_with_bytes(launch, p.scalar);
}

// A packed block on the stack would be read back wider than it was just written, which the processor waits for.
extern "C" int ep_launch2(const ep_geometry* geometry, intptr_t x, intptr_t out) {
    Launch launch = {geometry, {place(geometry, 0, x), place(geometry, 1, out)}, 0};
    return enter(launch);
}

extern "C" int ep_launch3(const ep_geometry* geometry, intptr_t a, intptr_t b, intptr_t out) {
    Launch launch = {geometry, {place(geometry, 0, a), place(geometry, 1, b), place(geometry, 2, out)}, 0};
    return enter(launch);
}

extern "C" int ep_launch4(const ep_geometry* geometry, intptr_t condition, intptr_t a, intptr_t b, intptr_t out) {
    Launch launch = {
        geometry,
        {place(geometry, 0, condition), place(geometry, 1, a), place(geometry, 2, b), place(geometry, 3, out)},
        0};
    return enter(launch);
}

extern "C" int ep_launch2_scalar(const ep_geometry* geometry, double value, intptr_t out) {
    Launch launch = {geometry, {nullptr, place(geometry, 1, out)}, 0};
    return enter_with_number(launch, value);
}

extern "C" int ep_launch3_scalar(const ep_geometry* geometry, double value, intptr_t other, intptr_t out) {
    Launch launch = {geometry, {place(geometry, 0, other), place(geometry, 1, other), place(geometry, 2, out)}, 0};
    return enter_with_number(launch, value);
}

extern "C" int ep_launch2_number(const ep_geometry* geometry, const char* number, intptr_t out) {
    Launch launch = {geometry, {nullptr, place(geometry, 1, out)}, 0};
    return enter_with_bytes(launch, number);
}

extern "C" int ep_launch3_number(const ep_geometry* geometry, const char* number, intptr_t other, intptr_t out) {
    Launch launch = {geometry, {place(geometry, 0, other), place(geometry, 1, other), place(geometry, 2, out)}, 0};
    return enter_with_bytes(launch, number);
}

extern "C" int ep_launch_where(const ep_geometry* geometry, intptr_t condition, intptr_t a, intptr_t b, intptr_t out,
                               const char* a_number, const char* b_number) {
    Launch launch = {
        geometry,
        {place(geometry, 0, condition), place(geometry, 1, a), place(geometry, 2, b), place(geometry, 3, out)},
        0};
    // As elements they are operands that stay where they are.
    alignas(16) char elements[2][16];
    const ep_storage& storage = *geometry->row->from;
    const auto put = [&](int operand, const char* number, char* element) {
        storage.store(number, element, storage.size, 1, false);
        launch.at[operand] = element;
    };
    if (a == 0) put(1, a_number, elements[0]);
    if (b == 0) put(2, b_number, elements[1]);
    return enter(launch);
}

extern "C" int ep_where(const void* packed) {
    const auto& p = *static_cast<const ep_where_packed*>(packed);
    return ep_launch_where(p.geometry, p.at[0], p.at[1], p.at[2], p.at[3], p.a, p.b);
}

extern "C" int ep_iota(const void* packed) {
    const auto& p = *static_cast<const ep_iota_packed*>(packed);
    // Kernels only read the numbers; places are counted from their address on.
    char* const numbers = reinterpret_cast<char*>(const_cast<ep_iota_numbers*>(&p.numbers));
    Launch launch = {p.geometry, {numbers, numbers, place(p.geometry, 2, p.out)}, 0};
    return enter(launch);
}

extern "C" int ep_launch_iota(const ep_geometry* geometry, intptr_t out, const char* start, const char* step) {
    ep_iota_packed packed = {geometry, out, {}};
    std::memcpy(packed.numbers.start, start, sizeof packed.numbers.start);
    std::memcpy(packed.numbers.step, step, sizeof packed.numbers.step);
    return ep_iota(&packed);
}
