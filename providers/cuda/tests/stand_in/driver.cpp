// A stand-in for NVIDIA's driver: memory, streams and events of a device that runs no kernels, for tests without a GPU.
//
// It behaves as the reference says where that is easily got wrong: work is done later, by a thread a stream; host
// memory that the driver has not locked is read when a copy is enqueued, not when its turn comes, and a copy to such
// memory waits.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

namespace {

using Address = std::uintptr_t;
using Clock = std::chrono::steady_clock;

enum Code : int {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    NOT_SUPPORTED = 801,
};

constexpr std::size_t TOTAL = std::size_t{4} << 30;
constexpr std::size_t ALIGNMENT = 512;

struct Context {
    int device;
};

thread_local std::vector<Context*> stack;

// Memory that the driver has given out, by its first address.
struct Block {
    std::size_t size;
    bool is_host;
    bool is_managed;
};

class Heap {
   public:
    int allocate(Address* place, std::size_t size, bool is_host, bool is_managed) {
        std::lock_guard guard(turn_);
        if (!size) return INVALID_VALUE;
        if (size > TOTAL - used_) return OUT_OF_MEMORY;
        void* memory = std::aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        if (!memory) return OUT_OF_MEMORY;
        used_ += size;
        *place = reinterpret_cast<Address>(memory);
        blocks_[*place] = {size, is_host, is_managed};
        return SUCCESS;
    }

    int free(Address place) {
        std::lock_guard guard(turn_);
        auto found = blocks_.find(place);
        if (found == blocks_.end()) return INVALID_VALUE;
        used_ -= found->second.size;
        std::free(reinterpret_cast<void*>(place));
        blocks_.erase(found);
        return SUCCESS;
    }

    // The block that an address lies in, and where it begins; a block of no size if there is none.
    std::pair<Address, Block> find(Address place) {
        std::lock_guard guard(turn_);
        auto next = blocks_.upper_bound(place);
        if (next == blocks_.begin()) return {0, {0, false, false}};
        auto [start, block] = *--next;
        return place < start + block.size ? std::pair{start, block} : std::pair{Address{0}, Block{0, false, false}};
    }

    std::size_t free_bytes() {
        std::lock_guard guard(turn_);
        return TOTAL - used_;
    }

   private:
    std::mutex turn_;
    std::map<Address, Block> blocks_;
    std::size_t used_ = 0;
};

Heap heap;

// A place in a stream, reached once.
struct Point {
    std::atomic<bool> is_done{false};
    Clock::time_point at;

    void reach() {
        at = Clock::now();
        is_done.store(true, std::memory_order_release);
        is_done.notify_all();
    }
    void wait() { is_done.wait(false, std::memory_order_acquire); }
};

struct Event {
    bool is_timed;
    std::mutex turn;
    std::shared_ptr<Point> point;  // of the last record; none before it
};

class Stream {
   public:
    explicit Stream(Context* context) : context(context) { std::thread(&Stream::work, this).detach(); }

    void put(std::function<void()> task) {
        std::lock_guard guard(turn_);
        tasks_.push_back(std::move(task));
        ++left_;
        changed_.notify_all();
    }
    bool is_idle() {
        std::lock_guard guard(turn_);
        return !left_;
    }
    void wait() {
        std::unique_lock guard(turn_);
        changed_.wait(guard, [this] { return !left_; });
    }
    // The stream goes when its work is done.
    void end() {
        std::lock_guard guard(turn_);
        is_ending_ = true;
        changed_.notify_all();
    }

    Context* const context;

   private:
    void work() {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock guard(turn_);
                changed_.wait(guard, [this] { return !tasks_.empty() || is_ending_; });
                if (tasks_.empty()) break;
                task = std::move(tasks_.front());
                tasks_.pop_front();
            }
            task();
            std::lock_guard guard(turn_);
            --left_;
            changed_.notify_all();
        }
        delete this;
    }

    std::mutex turn_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    std::size_t left_ = 0;
    bool is_ending_ = false;
};

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

// The default stream of old programs, and the streams that take turns with it: all that were not made non-blocking.
struct Legacy {
    std::mutex turn;
    std::map<Context*, Stream*> defaults;
    std::set<Stream*> blocking;

    static Legacy& get() {
        static Legacy one;
        return one;
    }
    Stream* of(Context* context) {
        std::lock_guard guard(turn);
        auto& found = defaults[context];
        if (!found) found = new Stream(context);
        return found;
    }
};

bool is_default(Stream* handle) {
    return reinterpret_cast<Address>(handle) <= 2;
}

// A stream by its handle; 0, 1 and 2 are the current context's default stream, as old programs and as threads have it.
Stream* of(Stream* handle) {
    return is_default(handle) ? Legacy::get().of(stack.back()) : handle;
}

// A point behind all that a stream has so far.
std::shared_ptr<Point> mark(Stream* stream) {
    auto point = std::make_shared<Point>();
    stream->put([point] { point->reach(); });
    return point;
}

// Lets the default stream and a blocking one wait for each other.
void take_turns(Stream* handle) {
    auto& legacy = Legacy::get();
    std::vector<Stream*> others;
    {
        std::lock_guard guard(legacy.turn);
        if (is_default(handle))
            others.assign(legacy.blocking.begin(), legacy.blocking.end());
        else if (auto found = legacy.defaults.find(handle->context);
                 found != legacy.defaults.end() && legacy.blocking.count(handle))
            others.push_back(found->second);
    }
    for (Stream* other : others)
        if (!other->is_idle()) of(handle)->put([point = mark(other)] { point->wait(); });
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
