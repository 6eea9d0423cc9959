// The devices, and contexts on them.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "driver/graph.h"
#include "driver/pool.h"
#include "machine/heap.h"
#include "machine/machine.h"

namespace {

constexpr int VERSION = 13000;
constexpr const char* NAME = "Emulated CUDA (no GPU)";

std::atomic<pid_t> owner{0};

int architecture() {
    static const int value = [] {
        const char* chosen = std::getenv("EP_CUDA_EMULATOR_ARCHITECTURE");
        return chosen ? std::atoi(chosen) : 90;
    }();
    return value;
}

// CUdevice_attribute of cuda.h, where it is not 0.
const std::map<int, int>& attributes() {
    static const std::map<int, int> values = {
        {1, 1024},
        {2, 1024},
        {3, 1024},
        {4, 64},
        {5, 0x7fffffff},
        {6, 65535},
        {7, 65535},
        {8, 48 << 10},
        {9, 64 << 10},
        {10, 32},
        {11, 0x7fffffff},
        {12, 65536},
        {13, 1000000},
        {14, 512},
        {15, 1},
        {16, 2},
        {18, 0},
        {19, 1},
        {20, 0},
        {31, 1},
        {35, 0},
        {36, 1000000},
        {37, 64},
        {38, 1 << 20},
        {39, 2048},
        {40, 2},
        {41, 1},
        {75, architecture() / 10},
        {76, architecture() % 10},
        {78, 1},
        {79, 1},
        {80, 1},
        {81, static_cast<int>(SHARED_MOST + 1024)},
        {82, 65536},
        {83, 1},
        {86, 1},
        {88, 1},
        {89, 1},
        {91, 1},
        {95, 0},
        {97, static_cast<int>(SHARED_MOST)},
        {106, 32},
        {115, 1},
        {120, 0},
    };
    return values;
}

bool is_device(int device) {
    return device >= 0 && device < device_count();
}

}  // namespace

int device_count() {
    static const int count = [] {
        const char* chosen = std::getenv("EP_CUDA_EMULATOR_DEVICES");
        return chosen ? std::clamp(std::atoi(chosen), 0, MOST_DEVICES) : 1;
    }();
    return count;
}

Context* primary(int device) {
    static auto* all = [] {
        auto* made = new Context[MOST_DEVICES];
        for (int number = 0; number < MOST_DEVICES; ++number) {
            made[number].device = number;
            made[number].is_primary = true;
        }
        return made;
    }();
    return all + device;
}

Context* current(int* code) {
    Context* context = stack.empty() ? nullptr : stack.back();
    if (owner != getpid())
        *code = NOT_INITIALIZED;
    else if (!context)
        *code = INVALID_CONTEXT;
    else
        *code = context->broken;
    return context;
}

extern "C" {

int cuInit(unsigned flags) {
    if (flags) return INVALID_VALUE;
    if (!device_count()) return NO_DEVICE;
    Heap::get();  // kernels look into its table, if nothing is allocated, too
    pid_t none = 0;
    owner.compare_exchange_strong(none, getpid());
    return owner == getpid() ? SUCCESS : NOT_INITIALIZED;
}
int cuDriverGetVersion(int* version) {
    const char* chosen = std::getenv("EP_CUDA_EMULATOR_VERSION");
    *version = chosen ? std::atoi(chosen) : VERSION;
    return SUCCESS;
}
int cuGetErrorName(int code, const char** name) {
    switch (code) {
#define NAMED(constant, number, text)                              \
    case number:                                                   \
        *name = number ? "CUDA_ERROR_" #constant : "CUDA_SUCCESS"; \
        return SUCCESS;
        CODES(NAMED)
#undef NAMED
        default:
            *name = nullptr;
            return INVALID_VALUE;
    }
}
int cuGetErrorString(int code, const char** text) {
    switch (code) {
#define NAMED(constant, number, words) \
    case number:                       \
        *text = words;                 \
        return SUCCESS;
        CODES(NAMED)
#undef NAMED
        default:
            *text = nullptr;
            return INVALID_VALUE;
    }
}
// NVRTC looks here whether the driver knows more than is written.
int cuGetExportTable(const void** table, const void*) {
    *table = nullptr;
    return NOT_SUPPORTED;
}

int cuDeviceGetCount(int* count) {
    if (owner != getpid()) return NOT_INITIALIZED;
    *count = device_count();
    return SUCCESS;
}
int cuDeviceGet(int* device, int ordinal) {
    if (owner != getpid()) return NOT_INITIALIZED;
    *device = ordinal;
    return is_device(ordinal) ? SUCCESS : INVALID_DEVICE;
}
int cuDeviceGetName(char* name, int size, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    std::strncpy(name, NAME, static_cast<std::size_t>(size));
    return SUCCESS;
}
int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    std::memcpy(uuid, "emulated-cuda-#0", 16);
    uuid[15] = static_cast<unsigned char>('0' + device);
    return SUCCESS;
}
int cuDeviceGetUuid(unsigned char* uuid, int device) {
    return cuDeviceGetUuid_v2(uuid, device);
}
int cuDeviceTotalMem_v2(std::size_t* size, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    *size = Heap::total();
    return SUCCESS;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    auto found = attributes().find(attribute);
    *value = found == attributes().end() ? 0 : found->second;
    if (attribute == 33) *value = device;  // PCI bus
    return SUCCESS;
}
int cuDeviceComputeCapability(int* major, int* minor, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    *major = architecture() / 10;
    *minor = architecture() % 10;
    return SUCCESS;
}
int cuDeviceGetPCIBusId(char* text, int size, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    std::string id = "0000:0" + std::to_string(device) + ":00.0";
    std::strncpy(text, id.c_str(), static_cast<std::size_t>(size));
    return SUCCESS;
}
int cuDeviceGetByPCIBusId(int* device, const char* text) {
    for (int number = 0; number < device_count(); ++number)
        if (std::string(text).find("0" + std::to_string(number) + ":00.0") != std::string::npos) {
            *device = number;
            return SUCCESS;
        }
    return INVALID_DEVICE;
}
int cuDeviceCanAccessPeer(int* can, int device, int other) {
    if (!is_device(device) || !is_device(other)) return INVALID_DEVICE;
    *can = device != other;
    return SUCCESS;
}
int cuDeviceGetP2PAttribute(int* value, int, int device, int other) {
    if (!is_device(device) || !is_device(other) || device == other) return INVALID_DEVICE;
    *value = 1;
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(Context** context, int device) {
    if (owner != getpid()) return NOT_INITIALIZED;
    if (!is_device(device)) return INVALID_DEVICE;
    *context = primary(device);
    return SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    return is_device(device) ? SUCCESS : INVALID_DEVICE;
}
int cuDevicePrimaryCtxRelease(int device) {
    return cuDevicePrimaryCtxRelease_v2(device);
}
int cuDevicePrimaryCtxReset_v2(int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    primary(device)->broken = 0;
    return SUCCESS;
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
    if (!is_device(device)) return INVALID_DEVICE;
    *flags = primary(device)->flags;
    *active = 1;
    return SUCCESS;
}
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    if (!is_device(device)) return INVALID_DEVICE;
    primary(device)->flags = flags;
    return SUCCESS;
}

// A context of its own; it shares the device's memory with the others.
int cuCtxCreate_v2(Context** context, unsigned flags, int device) {
    if (owner != getpid()) return NOT_INITIALIZED;
    if (!is_device(device)) return INVALID_DEVICE;
    *context = new Context;
    (*context)->device = device;
    (*context)->flags = flags;
    stack.push_back(*context);
    return SUCCESS;
}
int cuCtxCreate_v4(Context** context, void*, unsigned flags, int device) {
    return cuCtxCreate_v2(context, flags, device);
}
int cuCtxDestroy_v2(Context* context) {
    if (!context || context->is_primary) return INVALID_CONTEXT;
    wait_for_all(context);
    std::erase(stack, context);
    for (Stream* each : context->streams) each->end();
    return SUCCESS;  // its threads may still look at it
}
int cuCtxPushCurrent_v2(Context* context) {
    if (!context) return INVALID_CONTEXT;
    stack.push_back(context);
    return SUCCESS;
}
int cuCtxPopCurrent_v2(Context** context) {
    if (stack.empty()) return INVALID_CONTEXT;
    if (context) *context = stack.back();
    stack.pop_back();
    return SUCCESS;
}
int cuCtxSetCurrent(Context* context) {
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
    return SUCCESS;
}
int cuCtxGetCurrent(Context** context) {
    *context = stack.empty() ? nullptr : stack.back();
    return SUCCESS;
}
int cuCtxAttach(Context** context, unsigned) {
    return cuCtxGetCurrent(context);
}
int cuCtxDetach(Context*) {
    return SUCCESS;
}
int cuCtxGetDevice(int* device) {
    CURRENT(context);
    *device = context->device;
    return SUCCESS;
}
int cuCtxGetFlags(unsigned* flags) {
    CURRENT(context);
    *flags = context->flags;
    return SUCCESS;
}
int cuCtxGetApiVersion(Context*, unsigned* version) {
    *version = VERSION;
    return SUCCESS;
}
int cuCtxSynchronize() {
    CURRENT(context);
    wait_for_all(context);
    settle_pools();
    return context->broken;
}
int cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
    if (lowest) *lowest = 0;
    if (highest) *highest = -5;
    return SUCCESS;
}
int cuCtxGetLimit(std::size_t* value, int) {
    *value = 0;
    return SUCCESS;
}
int cuCtxSetLimit(int, std::size_t) {
    return SUCCESS;
}
int cuCtxGetCacheConfig(int* value) {
    *value = 0;
    return SUCCESS;
}
int cuCtxSetCacheConfig(int) {
    return SUCCESS;
}
int cuCtxGetSharedMemConfig(int* value) {
    *value = 0;
    return SUCCESS;
}
int cuCtxSetSharedMemConfig(int) {
    return SUCCESS;
}
int cuCtxEnablePeerAccess(Context* other, unsigned) {
    CURRENT(context);
    if (!other || other->device == context->device) return INVALID_DEVICE;
    std::lock_guard guard(context->turn);
    return context->peers.insert(other->device).second ? SUCCESS : PEER_ACCESS_ALREADY_ENABLED;
}
int cuCtxDisablePeerAccess(Context* other) {
    CURRENT(context);
    if (!other) return INVALID_CONTEXT;
    std::lock_guard guard(context->turn);
    return context->peers.erase(other->device) ? SUCCESS : PEER_ACCESS_NOT_ENABLED;
}
int cuProfilerStart() {
    return SUCCESS;
}
int cuProfilerStop() {
    return SUCCESS;
}
}
