// The ways into the N-D loop of elementwise kernels.
#include <algorithm>

#include "elementwise.h"
#include "runtime/count.h"
#include "runtime/pool.h"
#include "runtime/stream.h"
#include "runtime/walk.h"

namespace {

using ep::Launch;
using ep::place;

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

void walk_range(const Launch& launch, int64_t begin, int64_t end) {
    const ep_geometry& g = *launch.geometry;
    if (ep::has_short_rows(g)) {
        const int64_t n = g.shape[g.ndim - 1];
        ep::walk<EP_OPERANDS>(
            g.shape, g.stride, g.ndim - 1, g.operands, launch.at, begin / n, end / n,
            [&](char* const* at, const int64_t* step, int64_t rows) { ep::short_rows(g, at, step, rows); });
    } else {
        ep::walk<EP_OPERANDS>(g.shape, g.stride, g.ndim, g.operands, launch.at, begin, end,
                              [&](char* const* at, const int64_t* step, int64_t n) { g.row->loop(&g, at, step, n); });
    }
    if (g.traffic >= ep::STREAMING) ep::stream_done();
}

void walk_part(void* context, int i) {
    const auto& launch = *static_cast<const Launch*>(context);
    const int64_t begin = i * launch.part, size = launch.geometry->size;
    walk_range(launch, begin, size - begin < launch.part ? size : begin + launch.part);
}

struct TiledLaunch {
    Launch launch;
    ep::Tiles tiles;
};

void walk_tiles(void* context, int i) {
    const auto& [launch, tiles] = *static_cast<const TiledLaunch*>(context);
    const int64_t begin = i * launch.part;
    tiles.walk(launch.at, begin, std::min(begin + launch.part, tiles.count()));
    if (launch.geometry->traffic >= ep::STREAMING) ep::stream_done();
}

int enter_tiles(const Launch& launch) {
    const ep_geometry& g = *launch.geometry;
    TiledLaunch by = {launch, ep::Tiles(g)};
    const int64_t count = std::min<int64_t>(ep::parts(g.traffic), by.tiles.count());
    by.launch.part = (by.tiles.count() + count - 1) / count;
    ep::parallel(static_cast<int>((by.tiles.count() + by.launch.part - 1) / by.launch.part), walk_tiles, &by);
    return 0;
}

int enter_with_number(Launch& launch, double value) {
    alignas(8) char number[8];
    store_number(launch.geometry->scalar_type, value, number);
    launch.at[launch.geometry->scalar] = number;
    return ep::enter(launch);
}

// Kernels only read inputs.
int enter_with_bytes(Launch& launch, const char* number) {
    launch.at[launch.geometry->scalar] = const_cast<char*>(number);
    return ep::enter(launch);
}

}  // namespace

int ep::enter(Launch& launch) {
    const ep_geometry& g = *launch.geometry;
    ep::count_call();
    if (g.ndim == 0) {
        g.row->loop(&g, launch.at, g.itemsize, 1);
        return 0;
    }
    if (Tiles::are_of(g)) return enter_tiles(launch);
    const int count = ep::parts(g.traffic);
    if (count <= 1) {
        walk_range(launch, 0, g.size);
        return 0;
    }
    // Whole lines of every dtype, so that two threads do not write one line of a dense output.
    const int64_t whole = ep::has_short_rows(g) ? 64 * g.shape[g.ndim - 1] : 64;
    launch.part = ((g.size + count - 1) / count + whole - 1) / whole * whole;
    ep::parallel(static_cast<int>((g.size + launch.part - 1) / launch.part), walk_part, &launch);
    return 0;
}

extern "C" int ep_elementwise(const void* packed) {
    const auto& p = *static_cast<const ep_packed*>(packed);
    const auto& g = ep::plan_of<ep_geometry>(packed);
    Launch launch = {&g, {}, 0};
    if (g.scalar < 0) {
        for (int k = 0; k < g.operands; ++k) launch.at[k] = place(&g, k, p.at[k]);
        return ep::enter(launch);
    }
    for (int k = 0, tensor = 0; k < g.operands; ++k)
        if (k != g.scalar) launch.at[k] = place(&g, k, p.at[tensor++]);
    return enter_with_bytes(launch, ep::numbers_of(packed, g.operands - 1));
}

// A packed block on the stack would be read back wider than it was just written, which the processor waits for.
extern "C" int ep_launch2(const ep_geometry* geometry, char* x, int64_t x_at, char* out, int64_t out_at) {
    Launch launch = {geometry, {place(geometry, 0, x, x_at), place(geometry, 1, out, out_at)}, 0};
    return ep::enter(launch);
}

extern "C" int ep_launch3(const ep_geometry* geometry, char* a, int64_t a_at, char* b, int64_t b_at, char* out,
                          int64_t out_at) {
    Launch launch = {
        geometry, {place(geometry, 0, a, a_at), place(geometry, 1, b, b_at), place(geometry, 2, out, out_at)}, 0};
    return ep::enter(launch);
}

extern "C" int ep_launch4(const ep_geometry* geometry, char* condition, int64_t condition_at, char* a, int64_t a_at,
                          char* b, int64_t b_at, char* out, int64_t out_at) {
    Launch launch = {geometry,
                     {place(geometry, 0, condition, condition_at), place(geometry, 1, a, a_at),
                      place(geometry, 2, b, b_at), place(geometry, 3, out, out_at)},
                     0};
    return ep::enter(launch);
}

extern "C" int ep_launch2_scalar(const ep_geometry* geometry, double value, char* out, int64_t out_at) {
    Launch launch = {geometry, {nullptr, place(geometry, 1, out, out_at)}, 0};
    return enter_with_number(launch, value);
}

extern "C" int ep_launch3_scalar(const ep_geometry* geometry, double value, char* other, int64_t other_at, char* out,
                                 int64_t out_at) {
    Launch launch = {
        geometry,
        {place(geometry, 0, other, other_at), place(geometry, 1, other, other_at), place(geometry, 2, out, out_at)},
        0};
    return enter_with_number(launch, value);
}

extern "C" int ep_launch2_number(const ep_geometry* geometry, const char* number, char* out, int64_t out_at) {
    Launch launch = {geometry, {nullptr, place(geometry, 1, out, out_at)}, 0};
    return enter_with_bytes(launch, number);
}

extern "C" int ep_launch3_number(const ep_geometry* geometry, const char* number, char* other, int64_t other_at,
                                 char* out, int64_t out_at) {
    Launch launch = {
        geometry,
        {place(geometry, 0, other, other_at), place(geometry, 1, other, other_at), place(geometry, 2, out, out_at)},
        0};
    return enter_with_bytes(launch, number);
}
