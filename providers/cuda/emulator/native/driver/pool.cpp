// Memory in the order of streams. It is taken at once, and given back when the stream gets there: what was freed stays
// unused long enough in the heap. A pool keeps nothing: it says whose memory it is, and which threshold was set.

#include "driver/graph.h"
#include "machine/heap.h"

struct Pool {
    int device;
    std::uint64_t threshold = 0;
};

static Pool* default_pool(int device) {
    static Pool pools[MOST_DEVICES] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
    return pools + device;
}

static bool is_default(Pool* pool) {
    return pool == default_pool(pool->device);
}

static int allocate(Address* place, std::size_t size, Stream* handle, int device) {
    CURRENT(context);
    if (!stream_of(handle, context)) return INVALID_HANDLE;
    if (!size) return INVALID_VALUE;
    *place = Heap::get().allocate(size, Kind::DEVICE, device);
    return *place ? SUCCESS : OUT_OF_MEMORY;
}

extern "C" {

int cuMemAllocAsync(Address* place, std::size_t size, Stream* stream) {
    CURRENT(context);
    return allocate(place, size, stream, context->device);
}
int cuMemFreeAsync(Address place, Stream* stream) {
    if (!Heap::get().find(place).size) return INVALID_VALUE;
    return enqueue(stream, Node::EMPTY, [=](Context*) {
        Heap::get().free(place);
        return SUCCESS;
    });
}
int cuDeviceGetDefaultMemPool(Pool** pool, int device) {
    if (device < 0 || device >= device_count()) return INVALID_DEVICE;
    *pool = default_pool(device);
    return SUCCESS;
}
int cuDeviceGetMemPool(Pool** pool, int device) {
    return cuDeviceGetDefaultMemPool(pool, device);
}
// The beginning of CUmemPoolProps of cuda.h.
struct PoolProperties {
    int type, handles, location, device;
};
int cuMemPoolCreate(Pool** pool, const PoolProperties* given) {
    if (!given || given->device < 0 || given->device >= device_count()) return INVALID_VALUE;
    *pool = new Pool{given->device};
    return SUCCESS;
}
int cuMemPoolDestroy(Pool* pool) {
    if (!pool || is_default(pool)) return INVALID_VALUE;
    delete pool;
    return SUCCESS;
}
int cuMemPoolTrimTo(Pool* pool, std::size_t) {
    return pool ? SUCCESS : INVALID_VALUE;  // there is nothing to give back
}
constexpr int RELEASE_THRESHOLD = 4;
int cuMemPoolSetAttribute(Pool* pool, int attribute, const std::uint64_t* value) {
    if (!pool || !value) return INVALID_VALUE;
    if (attribute == RELEASE_THRESHOLD) pool->threshold = *value;
    return SUCCESS;  // the others say how freed memory may be used again
}
int cuMemPoolGetAttribute(Pool* pool, int attribute, std::uint64_t* value) {
    if (!pool || !value) return INVALID_VALUE;
    if (attribute != RELEASE_THRESHOLD) return NOT_SUPPORTED;
    *value = pool->threshold;
    return SUCCESS;
}
int cuMemAllocFromPoolAsync(Address* place, std::size_t size, Pool* pool, Stream* stream) {
    return pool ? allocate(place, size, stream, pool->device) : INVALID_VALUE;
}
}
