// Memory: allocations, what is known of addresses, copies and fills.

#include <algorithm>
#include <cstring>

#include "driver/graph.h"
#include "driver/pool.h"
#include "machine/heap.h"

namespace {

int allocate(Address* place, std::size_t size, Kind kind) {
    CURRENT(context);
    if (!place || !size) return INVALID_VALUE;
    *place = Heap::get().allocate(size, kind, context->device);
    return *place ? SUCCESS : OUT_OF_MEMORY;
}

// True if the driver may read or write these bytes later: they are its own, or locked.
bool is_locked(Address place, std::size_t size) {
    return Heap::get().holds(place, size) || Heap::get().is_host(place, size);
}

bool is_wrong(Address place, std::size_t size) {
    return is_device_address(place) ? !Heap::get().holds(place, size) : !place;
}

void move(Address to, Address of, std::size_t size) {
    std::memmove(bytes_at(to), bytes_at(of), size);
    if (!Heap::tracks_writes() || !is_device_address(to)) return;
    if (is_device_address(of))
        std::memmove(reinterpret_cast<void*>(WRITTEN + (to - BASE)), reinterpret_cast<void*>(WRITTEN + (of - BASE)),
                     size);
    else
        Heap::mark_written(to, size);
}

// A copy. Memory of the host that is not locked is read now; into such memory the caller waits for it.
int copy(Address to, Address of, std::size_t size, Stream* handle) {
    CURRENT(context);
    if (!size) return SUCCESS;
    if (is_wrong(to, size) || is_wrong(of, size)) return INVALID_VALUE;
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    if (!is_locked(of, size) && !stream->capture) {
        auto bytes = std::make_shared<std::vector<char>>(bytes_at(of), bytes_at(of) + size);
        return enqueue(handle, Node::COPY, [=](Context*) {
            std::memcpy(bytes_at(to), bytes->data(), size);
            Heap::mark_written(to, size);
            return SUCCESS;
        });
    }
    auto work = [=](Context*) {
        move(to, of, size);
        return SUCCESS;
    };
    if (int code = enqueue(handle, Node::COPY, work)) return code;
    if (!is_locked(to, size) && !stream->capture) stream->wait();
    return SUCCESS;
}

int copy_now(Address to, Address of, std::size_t size) {
    if (int code = copy(to, of, size, nullptr)) return code;
    CURRENT(context);
    stream_of(nullptr, context)->wait();
    return context->broken;
}

template <class T>
int fill(Address place, std::size_t pitch, T value, std::size_t width, std::size_t height, Stream* stream) {
    if (!width || !height) return SUCCESS;
    std::size_t rows = 0, row = 0, size = 0;
    if (__builtin_mul_overflow(pitch, height - 1, &rows) || __builtin_mul_overflow(width, sizeof(T), &row) ||
        __builtin_add_overflow(rows, row, &size))
        return INVALID_VALUE;
    if (!Heap::get().holds(place, size) || place % sizeof(T)) return INVALID_VALUE;
    return enqueue(stream, Node::SET, [=](Context*) {
        for (std::size_t row = 0; row < height; ++row) {
            std::fill_n(reinterpret_cast<T*>(bytes_at(place + row * pitch)), width, value);
            Heap::mark_written(place + row * pitch, width * sizeof(T));
        }
        return SUCCESS;
    });
}

template <class T>
int fill_now(Address place, std::size_t pitch, T value, std::size_t width, std::size_t height) {
    if (int code = fill(place, pitch, value, width, height, nullptr)) return code;
    CURRENT(context);
    stream_of(nullptr, context)->wait();
    return context->broken;
}

Address address(const void* place) {
    return reinterpret_cast<Address>(place);
}

}  // namespace

extern "C" {

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    CURRENT(context);
    *free = Heap::get().free_bytes(context->device);
    *total = Heap::total();
    return SUCCESS;
}
int cuMemAlloc_v2(Address* place, std::size_t size) {
    return allocate(place, size, Kind::DEVICE);
}
int cuMemAllocPitch_v2(Address* place, std::size_t* pitch, std::size_t width, std::size_t height, unsigned) {
    *pitch = (width + 511) / 512 * 512;
    return allocate(place, *pitch * height, Kind::DEVICE);
}
// What frees memory waits for all work, which may use it.
int cuMemFree_v2(Address place) {
    CURRENT(context);
    if (!place) return SUCCESS;
    wait_for_all(context);
    return give_back(place) ? SUCCESS : INVALID_VALUE;
}
int cuMemHostAlloc(void** place, std::size_t size, unsigned) {
    return allocate(reinterpret_cast<Address*>(place), size, Kind::PINNED);
}
int cuMemAllocHost_v2(void** place, std::size_t size) {
    return cuMemHostAlloc(place, size, 0);
}
int cuMemFreeHost(void* place) {
    return cuMemFree_v2(address(place));
}
int cuMemAllocManaged(Address* place, std::size_t size, unsigned) {
    return allocate(place, size, Kind::MANAGED);
}
int cuMemHostGetDevicePointer_v2(Address* place, void* host, unsigned) {
    *place = address(host);
    return is_locked(*place, 1) ? SUCCESS : INVALID_VALUE;
}
int cuMemHostGetFlags(unsigned* flags, void*) {
    *flags = 3;
    return SUCCESS;
}
int cuMemHostRegister_v2(void* place, std::size_t size, unsigned) {
    return Heap::get().add_host(address(place), size) ? SUCCESS : HOST_MEMORY_ALREADY_REGISTERED;
}
int cuMemHostUnregister(void* place) {
    CURRENT(context);
    wait_for_all(context);
    return Heap::get().remove_host(address(place)) ? SUCCESS : HOST_MEMORY_NOT_REGISTERED;
}
int cuMemGetAddressRange_v2(Address* start, std::size_t* size, Address place) {
    auto found = Heap::get().find(place);
    if (!found.size) return NOT_FOUND;
    if (start) *start = found.start;
    if (size) *size = found.size;
    return SUCCESS;
}
int cuPointerGetAttribute(void* answer, int attribute, Address place) {
    enum {
        CONTEXT = 1,
        TYPE,
        DEVICE_POINTER,
        HOST_POINTER,
        BUFFER_ID = 7,
        IS_MANAGED,
        ORDINAL,
        START = 11,
        SIZE,
        MAPPED
    };
    auto found = Heap::get().find(place);
    bool is_host = Heap::get().is_host(place, 1);
    if (!found.size && !is_host) return INVALID_VALUE;
    bool is_shared = is_host || found.kind == Kind::PINNED || found.kind == Kind::MANAGED;
    switch (attribute) {
        case CONTEXT:
            *static_cast<Context**>(answer) = primary(found.device);
            return SUCCESS;
        case TYPE:
            *static_cast<unsigned*>(answer) = is_host || found.kind == Kind::PINNED ? 1 : 2;
            return SUCCESS;
        case DEVICE_POINTER:
            *static_cast<Address*>(answer) = place;
            return SUCCESS;
        case HOST_POINTER:
            *static_cast<Address*>(answer) = place;
            return is_shared ? SUCCESS : INVALID_VALUE;
        case BUFFER_ID:
            *static_cast<std::uint64_t*>(answer) = static_cast<std::uint64_t>(found.number);
            return SUCCESS;
        case IS_MANAGED:
            *static_cast<unsigned*>(answer) = found.kind == Kind::MANAGED;
            return SUCCESS;
        case ORDINAL:
            *static_cast<int*>(answer) = found.device;
            return SUCCESS;
        case START:
            *static_cast<Address*>(answer) = found.start;
            return SUCCESS;
        case SIZE:
            *static_cast<std::size_t*>(answer) = found.size;
            return SUCCESS;
        case MAPPED:
            *static_cast<unsigned*>(answer) = 1;
            return SUCCESS;
        default:
            return NOT_SUPPORTED;
    }
}
int cuPointerGetAttributes(unsigned count, int* attributes, void** answers, Address place) {
    for (unsigned number = 0; number < count; ++number)
        cuPointerGetAttribute(answers[number], attributes[number], place);
    return SUCCESS;
}

int cuMemcpyAsync(Address to, Address of, std::size_t size, Stream* stream) {
    return copy(to, of, size, stream);
}
int cuMemcpyHtoDAsync_v2(Address to, const void* of, std::size_t size, Stream* stream) {
    return copy(to, address(of), size, stream);
}
int cuMemcpyDtoHAsync_v2(void* to, Address of, std::size_t size, Stream* stream) {
    return copy(address(to), of, size, stream);
}
int cuMemcpyDtoDAsync_v2(Address to, Address of, std::size_t size, Stream* stream) {
    return copy(to, of, size, stream);
}
int cuMemcpyPeerAsync(Address to, Context*, Address of, Context*, std::size_t size, Stream* stream) {
    return copy(to, of, size, stream);
}
int cuMemcpy(Address to, Address of, std::size_t size) {
    return copy_now(to, of, size);
}
int cuMemcpyHtoD_v2(Address to, const void* of, std::size_t size) {
    return copy_now(to, address(of), size);
}
int cuMemcpyDtoH_v2(void* to, Address of, std::size_t size) {
    return copy_now(address(to), of, size);
}
int cuMemcpyDtoD_v2(Address to, Address of, std::size_t size) {
    return copy_now(to, of, size);
}
int cuMemcpyPeer(Address to, Context*, Address of, Context*, std::size_t size) {
    return copy_now(to, of, size);
}

int cuMemsetD8Async(Address place, unsigned char value, std::size_t count, Stream* stream) {
    return fill(place, count, value, count, 1, stream);
}
int cuMemsetD16Async(Address place, unsigned short value, std::size_t count, Stream* stream) {
    return fill(place, 0, value, count, 1, stream);
}
int cuMemsetD32Async(Address place, unsigned value, std::size_t count, Stream* stream) {
    return fill(place, 0, value, count, 1, stream);
}
int cuMemsetD2D8Async(Address place, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height,
                      Stream* stream) {
    return fill(place, pitch, value, width, height, stream);
}
int cuMemsetD2D16Async(Address place, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height,
                       Stream* stream) {
    return fill(place, pitch, value, width, height, stream);
}
int cuMemsetD2D32Async(Address place, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                       Stream* stream) {
    return fill(place, pitch, value, width, height, stream);
}
int cuMemsetD8_v2(Address place, unsigned char value, std::size_t count) {
    return fill_now(place, 0, value, count, 1);
}
int cuMemsetD16_v2(Address place, unsigned short value, std::size_t count) {
    return fill_now(place, 0, value, count, 1);
}
int cuMemsetD32_v2(Address place, unsigned value, std::size_t count) {
    return fill_now(place, 0, value, count, 1);
}
int cuMemsetD2D8_v2(Address place, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height) {
    return fill_now(place, pitch, value, width, height);
}
int cuMemsetD2D16_v2(Address place, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height) {
    return fill_now(place, pitch, value, width, height);
}
int cuMemsetD2D32_v2(Address place, std::size_t pitch, unsigned value, std::size_t width, std::size_t height) {
    return fill_now(place, pitch, value, width, height);
}
int cuMemPrefetchAsync_v2(Address, std::size_t, int, int, unsigned, Stream*) {
    return SUCCESS;
}
int cuMemAdvise_v2(Address, std::size_t, int, int, int) {
    return SUCCESS;
}
}
