// Memory in the order of streams. It is taken at once, and given back when the stream gets there: what was freed stays
// unused long enough in the heap. Pools are names for the devices.

#include "driver/graph.h"
#include "machine/heap.h"

struct Pool;

extern "C" {

int cuMemAllocAsync(Address* place, std::size_t size, Stream* handle) {
    CURRENT(context);
    if (!stream_of(handle, context)) return INVALID_HANDLE;
    if (!size) return INVALID_VALUE;
    *place = Heap::get().allocate(size, Kind::DEVICE, context->device);
    return *place ? SUCCESS : OUT_OF_MEMORY;
}
int cuMemFreeAsync(Address place, Stream* stream) {
    if (!Heap::get().find(place).size) return INVALID_VALUE;
    return enqueue(stream, Node::EMPTY, [=](Context*) {
        Heap::get().free(place);
        return SUCCESS;
    });
}
int cuDeviceGetDefaultMemPool(Pool** pool, int device) {
    *pool = reinterpret_cast<Pool*>(primary(device));
    return SUCCESS;
}
int cuDeviceGetMemPool(Pool** pool, int device) {
    return cuDeviceGetDefaultMemPool(pool, device);
}
int cuDeviceSetMemPool(int, Pool*) {
    return SUCCESS;
}
int cuMemPoolCreate(Pool** pool, const void*) {
    return cuDeviceGetDefaultMemPool(pool, 0);
}
int cuMemPoolDestroy(Pool*) {
    return SUCCESS;
}
int cuMemPoolTrimTo(Pool*, std::size_t) {
    return SUCCESS;
}
int cuMemPoolSetAttribute(Pool*, int, void*) {
    return SUCCESS;
}
int cuMemPoolGetAttribute(Pool*, int, void* value) {
    *static_cast<std::uint64_t*>(value) = 0;
    return SUCCESS;
}
int cuMemAllocFromPoolAsync(Address* place, std::size_t size, Pool*, Stream* stream) {
    return cuMemAllocAsync(place, size, stream);
}
}
