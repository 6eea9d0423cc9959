#include <algorithm>
#include <cstring>

#include "driver/graph.h"
#include "driver/library.h"
#include "machine/heap.h"
#include "machine/machine.h"

int take_parameters(KernelPlan& plan, void** parameters, void** extra) {
    enum { END = 0, BUFFER = 1, SIZE = 2 };
    auto& facts = plan.function->facts;
    plan.parameters.assign(facts.parameter_bytes, 0);
    if (extra) {
        const void* buffer = nullptr;
        std::size_t size = 0;
        for (void** word = extra; *word; word += 2) {
            auto kind = reinterpret_cast<std::uintptr_t>(*word);
            if (kind == BUFFER) buffer = word[1];
            if (kind == SIZE) size = *static_cast<std::size_t*>(word[1]);
        }
        if (size < facts.parameter_bytes || (!buffer && size)) return INVALID_VALUE;
        if (buffer) std::memcpy(plan.parameters.data(), buffer, facts.parameter_bytes);
        return SUCCESS;
    }
    for (std::size_t number = 0; number < facts.parameters.size(); ++number) {
        if (!parameters || !parameters[number]) return INVALID_VALUE;
        std::memcpy(plan.parameters.data() + facts.parameters[number].offset, parameters[number],
                    facts.parameters[number].size);
    }
    return SUCCESS;
}

// Kernels reach memory of another device where peer access was enabled; what they are given tells which they want.
static int check_peers(Context* context, const KernelPlan& plan) {
    for (std::size_t at = 0; at + sizeof(Address) <= plan.parameters.size(); at += sizeof(Address)) {
        Address place;
        std::memcpy(&place, plan.parameters.data() + at, sizeof place);
        if (!is_device_address(place) || (place - BASE) / DEVICE_BYTES == static_cast<Address>(context->device))
            continue;
        auto found = Heap::get().find(place);
        std::lock_guard guard(context->turn);
        if (!found.size || found.kind != Kind::DEVICE || context->peers.count(found.device)) continue;
        say("emulated CUDA: kernel " + plan.function->facts.name + " is given memory of device " +
            std::to_string(found.device) + ", to which device " + std::to_string(context->device) +
            " has no peer access");
        return ILLEGAL_ADDRESS;
    }
    return SUCCESS;
}

int run(Context* context, const KernelPlan& plan) {
    if (int code = check_peers(context, plan)) return code;
    Launch launch;
    std::shared_ptr<Object> object;  // stays while it runs: better code may take its place meanwhile
    {
        std::lock_guard guard(plan.function->turn);
        object = plan.function->object;
        launch.code = plan.function->code;
        launch.is_cooperative = plan.function->is_cooperative;
        launch.shared = plan.function->shared;
    }
    launch.kernel = plan.function->facts.name;
    launch.grid = plan.grid;
    launch.block = plan.block;
    launch.dynamic = plan.dynamic;
    launch.parameters = plan.parameters;
    run(launch);
    return launch.failure;
}

static int check_extents(const Extent& grid, const Extent& block, const Function& function, std::uint32_t dynamic) {
    bool is_empty = !grid.count() || !block.count();
    bool is_wide = block.x > MOST_THREADS || block.y > MOST_THREADS || block.z > 64 || grid.x > 0x7fffffff ||
                   grid.y > 65535 || grid.z > 65535 || block.count() > MOST_THREADS;
    if (is_empty || is_wide) return INVALID_VALUE;
    if (function.facts.most_threads && block.count() > function.facts.most_threads) return INVALID_VALUE;
    std::uint32_t most = std::max<std::uint32_t>(SHARED_BY_DEFAULT, function.dynamic_most + function.shared);
    return function.shared + dynamic > most ? INVALID_VALUE : SUCCESS;
}

int launch(Function* function, Extent grid, Extent block, unsigned dynamic, Stream* stream, void** parameters,
           void** extra, bool is_grid_wide) {
    InContextOf entered(function, stream);
    CURRENT(context);
    if (!function) return INVALID_HANDLE;
    if (int code = function_of(function, context)) return code;
    if (int code = function->prepare(grid.count() * block.count())) return code;
    if (int code = check_extents(grid, block, *function, dynamic)) return code;
    if (is_grid_wide && grid.count() > 1) return NOT_SUPPORTED;
    auto plan = std::make_shared<KernelPlan>(KernelPlan{function, grid, block, dynamic, {}});
    if (int code = take_parameters(*plan, parameters, extra)) return code;
    return enqueue(stream, Node::KERNEL, [plan](Context* context) { return run(context, *plan); }, plan);
}

extern "C" {

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int threads, std::size_t dynamic) {
    if (!function || threads <= 0) return INVALID_VALUE;
    if (int code = function->prepare(0)) return code;
    std::size_t shared = std::max<std::size_t>(function->shared + dynamic, 1);
    *blocks =
        static_cast<int>(std::min<std::size_t>({32, static_cast<std::size_t>(2048 / threads), SHARED_MOST / shared}));
    return SUCCESS;
}
int cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream* stream, void** parameters, void** extra) {
    return launch(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra, false);
}
int cuLaunchCooperativeKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, Stream* stream, void** parameters) {
    return launch(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, nullptr, true);
}
struct LaunchConfiguration {
    unsigned gx, gy, gz, bx, by, bz, shared;
    Stream* stream;
    void* attributes;
    unsigned count;
};
int cuLaunchKernelEx(const LaunchConfiguration* given, Function* function, void** parameters, void** extra) {
    if (!given) return INVALID_VALUE;
    return launch(function, {given->gx, given->gy, given->gz}, {given->bx, given->by, given->bz}, given->shared,
                  given->stream, parameters, extra, false);
}

// Launches of old programs, which set one thing after the other.
int cuFuncSetBlockShape(Function* function, int x, int y, int z) {
    if (!function || x <= 0 || y <= 0 || z <= 0) return INVALID_VALUE;
    function->set_block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return SUCCESS;
}
int cuFuncSetSharedSize(Function* function, unsigned size) {
    if (!function) return INVALID_VALUE;
    function->set_dynamic = size;
    return SUCCESS;
}
int cuParamSetSize(Function* function, unsigned size) {
    if (!function || size > PARAM_MOST) return INVALID_VALUE;
    function->set_parameters.resize(size);
    return SUCCESS;
}
int cuParamSetv(Function* function, int offset, void* value, unsigned size) {
    if (!function || offset < 0 || offset + size > PARAM_MOST) return INVALID_VALUE;
    auto& bytes = function->set_parameters;
    bytes.resize(std::max<std::size_t>(bytes.size(), offset + size));
    std::memcpy(bytes.data() + offset, value, size);
    return SUCCESS;
}
int cuParamSeti(Function* function, int offset, unsigned value) {
    return cuParamSetv(function, offset, &value, sizeof value);
}
int cuParamSetf(Function* function, int offset, float value) {
    return cuParamSetv(function, offset, &value, sizeof value);
}
int cuLaunchGridAsync(Function* function, int width, int height, Stream* stream) {
    if (!function || width <= 0 || height <= 0) return INVALID_VALUE;
    std::size_t size = function->set_parameters.size();
    void* extra[] = {reinterpret_cast<void*>(1), function->set_parameters.data(), reinterpret_cast<void*>(2), &size,
                     nullptr};
    Extent grid = {static_cast<unsigned>(width), static_cast<unsigned>(height), 1};
    return launch(function, grid, function->set_block, function->set_dynamic, stream, nullptr, extra);
}
int cuLaunchGrid(Function* function, int width, int height) {
    return cuLaunchGridAsync(function, width, height, nullptr);
}
int cuLaunch(Function* function) {
    return cuLaunchGrid(function, 1, 1);
}
}
