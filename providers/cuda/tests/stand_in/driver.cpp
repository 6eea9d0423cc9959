// A stand-in for NVIDIA's driver: memory, streams and events of a device that runs no kernels, for tests without a GPU.
//
// It behaves as the reference says where that is easily got wrong: work is done later, by a thread a stream; host
// memory that the driver has not locked is read when a copy is enqueued, not when its turn comes, and a copy to such
// memory waits.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "heap.h"
#include "stream.h"

namespace {

Heap heap;

int devices() {
    const char* count = std::getenv("EP_STAND_IN_DEVICES");
    return count ? std::atoi(count) : 1;
}

Context* contexts() {
    static std::vector<Context> all = [] {
        std::vector<Context> made;
        for (int device = 0; device < devices(); ++device) made.push_back({device});
        return made;
    }();
    return all.data();
}

bool is_known(const void* memory) {
    return heap.find(reinterpret_cast<Address>(memory)).second.size > 0;
}

int enqueue(Stream* stream, std::function<void()> task) {
    if (stack.empty()) return INVALID_CONTEXT;
    take_turns(stream);
    of(stream)->put(std::move(task));
    return SUCCESS;
}

template <class T>
int set(Address place, T value, std::size_t count, Stream* stream) {
    return enqueue(stream, [=] { std::fill_n(reinterpret_cast<T*>(place), count, value); });
}

}  // namespace

extern "C" {

int cuInit(unsigned int) {
    return devices() > 0 ? SUCCESS : 100;
}
int cuDriverGetVersion(int* version) {
    const char* chosen = std::getenv("EP_STAND_IN_VERSION");
    *version = chosen ? std::atoi(chosen) : 13000;
    return SUCCESS;
}
int cuGetErrorName(int code, const char** name) {
    static const std::map<int, const char*> names = {
        {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {100, "CUDA_ERROR_NO_DEVICE"},
        {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
        {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
        {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
        {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    };
    auto found = names.find(code);
    *name = found == names.end() ? nullptr : found->second;
    return found == names.end() ? INVALID_VALUE : SUCCESS;
}

// NVRTC looks here whether the driver knows more than is written.
int cuGetExportTable(const void** table, const void*) {
    *table = nullptr;
    return NOT_SUPPORTED;
}

int cuDeviceGetCount(int* count) {
    *count = devices();
    return SUCCESS;
}
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return ordinal < devices() ? SUCCESS : INVALID_DEVICE;
}
int cuDeviceGetName(char* name, int size, int) {
    std::strncpy(name, "Stand-in (no GPU)", size);
    return SUCCESS;
}
int cuDeviceTotalMem_v2(std::size_t* size, int) {
    *size = TOTAL;
    return SUCCESS;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    static const std::map<int, int> values = {{10, 32}, {16, 2}, {75, 9}, {76, 0}, {89, 1}};
    auto found = values.find(attribute);
    *value = found == values.end() ? 0 : found->second;
    return SUCCESS;
}
int cuDeviceGetPCIBusId(char* text, int size, int device) {
    std::strncpy(text, "0000:00:00.0", size);
    text[11] = static_cast<char>('0' + device);
    return SUCCESS;
}
int cuDevicePrimaryCtxRetain(Context** context, int device) {
    *context = contexts() + device;
    return SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    return SUCCESS;
}
int cuCtxPushCurrent_v2(Context* context) {
    stack.push_back(context);
    return SUCCESS;
}
int cuCtxPopCurrent_v2(Context** context) {
    if (stack.empty()) return INVALID_CONTEXT;
    *context = stack.back();
    stack.pop_back();
    return SUCCESS;
}
int cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
    *lowest = 0;
    *highest = -5;
    return SUCCESS;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *free = heap.free_bytes();
    *total = TOTAL;
    return SUCCESS;
}
int cuMemAlloc_v2(Address* place, std::size_t size) {
    return heap.allocate(place, size, false, false);
}
int cuMemFree_v2(Address place) {
    return heap.free(place);
}
int cuMemHostAlloc(void** place, std::size_t size, unsigned int) {
    return heap.allocate(reinterpret_cast<Address*>(place), size, true, false);
}
int cuMemFreeHost(void* place) {
    return heap.free(reinterpret_cast<Address>(place));
}
int cuMemAllocManaged(Address* place, std::size_t size, unsigned int) {
    return heap.allocate(place, size, false, true);
}
int cuPointerGetAttribute(void* answer, int attribute, Address place) {
    auto [start, block] = heap.find(place);
    if (!block.size) return INVALID_VALUE;
    switch (attribute) {
        case 2:
            *static_cast<unsigned int*>(answer) = block.is_host ? 1 : 2;
            return SUCCESS;
        case 8:
            *static_cast<unsigned int*>(answer) = block.is_managed;
            return SUCCESS;
        case 9:
            *static_cast<int*>(answer) = 0;
            return SUCCESS;
        case 11:
            *static_cast<Address*>(answer) = start;
            return SUCCESS;
        case 12:
            *static_cast<std::size_t*>(answer) = block.size;
            return SUCCESS;
        default:
            return NOT_SUPPORTED;
    }
}
int cuMemcpyAsync(Address dst, Address src, std::size_t size, Stream* stream) {
    return enqueue(stream, [=] { std::memmove(reinterpret_cast<void*>(dst), reinterpret_cast<void*>(src), size); });
}
int cuMemcpyHtoDAsync_v2(Address dst, const void* src, std::size_t size, Stream* stream) {
    if (is_known(src)) return cuMemcpyAsync(dst, reinterpret_cast<Address>(src), size, stream);
    auto bytes =
        std::make_shared<std::vector<char>>(static_cast<const char*>(src), static_cast<const char*>(src) + size);
    return enqueue(stream, [=] { std::memcpy(reinterpret_cast<void*>(dst), bytes->data(), size); });
}
int cuMemcpyDtoHAsync_v2(void* dst, Address src, std::size_t size, Stream* stream) {
    int code = cuMemcpyAsync(reinterpret_cast<Address>(dst), src, size, stream);
    if (!code && !is_known(dst)) of(stream)->wait();
    return code;
}
int cuMemsetD8Async(Address place, unsigned char value, std::size_t count, Stream* stream) {
    return set(place, value, count, stream);
}
int cuMemsetD16Async(Address place, unsigned short value, std::size_t count, Stream* stream) {
    return set(place, value, count, stream);
}
int cuMemsetD32Async(Address place, unsigned int value, std::size_t count, Stream* stream) {
    return set(place, value, count, stream);
}
int cuMemsetD2D32Async(Address place, std::size_t pitch, unsigned int value, std::size_t width, std::size_t height,
                       Stream* stream) {
    return enqueue(stream, [=] {
        for (std::size_t row = 0; row < height; ++row)
            std::fill_n(reinterpret_cast<unsigned int*>(place + row * pitch), width, value);
    });
}

int cuStreamCreateWithPriority(Stream** stream, unsigned int flags, int) {
    if (stack.empty()) return INVALID_CONTEXT;
    *stream = new Stream(stack.back());
    std::lock_guard guard(Legacy::get().turn);
    if (!(flags & 1)) Legacy::get().blocking.insert(*stream);
    return SUCCESS;
}
int cuStreamDestroy_v2(Stream* stream) {
    std::lock_guard guard(Legacy::get().turn);
    Legacy::get().blocking.erase(stream);
    stream->end();
    return SUCCESS;
}
int cuStreamSynchronize(Stream* stream) {
    of(stream)->wait();
    return SUCCESS;
}
int cuStreamQuery(Stream* stream) {
    return of(stream)->is_idle() ? SUCCESS : NOT_READY;
}
int cuStreamGetCtx(Stream* stream, Context** context) {
    *context = of(stream)->context;
    return SUCCESS;
}
int cuStreamWaitEvent(Stream* stream, Event* event, unsigned int) {
    std::lock_guard guard(event->turn);
    auto point = event->point;
    return point ? enqueue(stream, [point] { point->wait(); }) : SUCCESS;
}
int cuStreamWaitValue32_v2(Stream* stream, Address place, std::uint32_t value, unsigned int) {
    return enqueue(stream, [=] {
        auto* word = reinterpret_cast<std::uint32_t volatile*>(place);
        while (static_cast<std::int32_t>(*word - value) < 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    });
}

int cuEventCreate(Event** event, unsigned int flags) {
    *event = new Event{!(flags & 2), {}, nullptr};
    return SUCCESS;
}
int cuEventDestroy_v2(Event* event) {
    delete event;
    return SUCCESS;
}
int cuEventRecord(Event* event, Stream* stream) {
    auto point = std::make_shared<Point>();
    {
        std::lock_guard guard(event->turn);
        event->point = point;
    }
    return enqueue(stream, [point] { point->reach(); });
}
int cuEventQuery(Event* event) {
    std::lock_guard guard(event->turn);
    return !event->point || event->point->is_done ? SUCCESS : NOT_READY;
}
int cuEventSynchronize(Event* event) {
    std::unique_lock guard(event->turn);
    auto point = event->point;
    guard.unlock();
    if (point) point->wait();
    return SUCCESS;
}
int cuEventElapsedTime(float* milliseconds, Event* earlier, Event* later) {
    if (!earlier->is_timed || !later->is_timed || !earlier->point || !later->point) return INVALID_HANDLE;
    if (!earlier->point->is_done || !later->point->is_done) return NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(later->point->at - earlier->point->at).count();
    return SUCCESS;
}

int cuModuleLoadData(void**, const void*) {
    return NOT_SUPPORTED;
}
int cuModuleUnload(void*) {
    return SUCCESS;
}
int cuModuleGetFunction(void**, void*, const char*) {
    return NOT_SUPPORTED;
}
int cuFuncGetAttribute(int*, int, void*) {
    return NOT_SUPPORTED;
}
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream*, void**,
                   void**) {
    return NOT_SUPPORTED;
}
}
