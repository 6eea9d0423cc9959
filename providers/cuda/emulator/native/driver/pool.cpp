// Memory in the order of streams. It is taken at once, and given back when the stream gets there: what was freed stays
// unused long enough in the heap, and a pool only counts it as the device's that is not free.

#include "driver/pool.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "driver/graph.h"
#include "machine/heap.h"

struct Pool {
    explicit Pool(int device) : device(device) {}

    const int device;
    std::uint64_t threshold = 0;
    std::uint64_t used = 0, most_used = 0, reserved = 0, most_reserved = 0;

    Address take(std::size_t size) {
        std::size_t reused = std::min<std::size_t>(size, reserved - used);
        Heap::get().keep(device, reused, false);
        Address place = Heap::get().allocate(size, Kind::DEVICE, device);
        if (!place) {
            Heap::get().keep(device, reused, true);
            return 0;
        }
        used += size;
        reserved += size - reused;
        most_used = std::max(most_used, used);
        most_reserved = std::max(most_reserved, reserved);
        return place;
    }
    void put_back(std::size_t size) {
        used -= size;
        Heap::get().keep(device, size, true);
    }
    void shrink(std::uint64_t least) {
        std::uint64_t rest = std::min(reserved, std::max(used, least));
        Heap::get().keep(device, reserved - rest, false);
        reserved = rest;
    }
};

namespace {

class Pools {
   public:
    static Pools& get() {
        static Pools* one = new Pools;
        return *one;
    }
    std::mutex turn;
    std::set<std::shared_ptr<Pool>> all;
    std::map<Address, std::pair<std::shared_ptr<Pool>, std::size_t>> owners;  // of what is allocated
    std::shared_ptr<Pool> first[MOST_DEVICES], current[MOST_DEVICES];

    std::shared_ptr<Pool> find(Pool* pool) {
        auto found = std::find_if(all.begin(), all.end(), [=](auto& each) { return each.get() == pool; });
        return found == all.end() ? nullptr : *found;
    }

   private:
    Pools() {
        for (int device = 0; device < MOST_DEVICES; ++device) {
            first[device] = current[device] = std::make_shared<Pool>(device);
            all.insert(first[device]);
        }
    }
};

// Takes memory of a pool, of the device's current one if none is named.
int allocate(Address* place, std::size_t size, Stream* handle, Pool* named) {
    CURRENT(context);
    if (!stream_of(handle, context)) return INVALID_HANDLE;
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    auto pool = named ? pools.find(named) : pools.current[context->device];
    if (!size || !place || !pool) return INVALID_VALUE;
    *place = pool->take(size);
    if (!*place) return OUT_OF_MEMORY;
    pools.owners[*place] = {pool, size};
    return SUCCESS;
}

}  // namespace

bool give_back(Address place) {
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    if (!Heap::get().free(place)) return false;
    auto owner = pools.owners.find(place);
    if (owner == pools.owners.end()) return true;
    auto [pool, size] = owner->second;
    pools.owners.erase(owner);
    pool->put_back(size);
    if (!pools.all.contains(pool)) pool->shrink(0);  // it was destroyed
    return true;
}

void settle_pools() {
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    for (auto& pool : pools.all) pool->shrink(pool->threshold);
}

extern "C" {

int cuMemAllocAsync(Address* place, std::size_t size, Stream* stream) {
    return allocate(place, size, stream, nullptr);
}
int cuMemAllocFromPoolAsync(Address* place, std::size_t size, Pool* pool, Stream* stream) {
    return pool ? allocate(place, size, stream, pool) : INVALID_VALUE;
}
int cuMemFreeAsync(Address place, Stream* stream) {
    if (Heap::get().find(place).start != place || !place) return INVALID_VALUE;
    return enqueue(stream, Node::EMPTY, [=](Context*) {
        give_back(place);
        return SUCCESS;
    });
}
int cuDeviceGetDefaultMemPool(Pool** pool, int device) {
    if (device < 0 || device >= device_count()) return INVALID_DEVICE;
    *pool = Pools::get().first[device].get();
    return SUCCESS;
}
int cuDeviceGetMemPool(Pool** pool, int device) {
    if (device < 0 || device >= device_count()) return INVALID_DEVICE;
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    *pool = pools.current[device].get();
    return SUCCESS;
}
int cuDeviceSetMemPool(int device, Pool* given) {
    if (device < 0 || device >= device_count()) return INVALID_DEVICE;
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    auto pool = pools.find(given);
    if (!pool || pool->device != device) return INVALID_VALUE;
    pools.current[device] = pool;
    return SUCCESS;
}
// The beginning of CUmemPoolProps of cuda.h.
struct PoolProperties {
    int type, handles, location, device;
};
int cuMemPoolCreate(Pool** pool, const PoolProperties* given) {
    if (!given || given->device < 0 || given->device >= device_count()) return INVALID_VALUE;
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    auto made = std::make_shared<Pool>(given->device);
    *pool = made.get();
    pools.all.insert(made);
    return SUCCESS;
}
// What is allocated of it lives on.
int cuMemPoolDestroy(Pool* given) {
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    auto pool = pools.find(given);
    if (!pool || pool == pools.first[pool->device]) return INVALID_VALUE;
    if (pools.current[pool->device] == pool) pools.current[pool->device] = pools.first[pool->device];
    pool->shrink(0);
    pools.all.erase(pool);
    return SUCCESS;
}
int cuMemPoolTrimTo(Pool* given, std::size_t least) {
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    auto pool = pools.find(given);
    if (pool) pool->shrink(least);
    return pool ? SUCCESS : INVALID_VALUE;
}
// CUmemPool_attribute of cuda.h. The first three say how freed memory may be used again; it always may.
enum { FOLLOW_EVENTS = 1, INTERNAL_DEPENDENCIES = 3, THRESHOLD = 4, RESERVED, MOST_RESERVED, USED, MOST_USED };
int cuMemPoolSetAttribute(Pool* given, int attribute, const std::uint64_t* value) {
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    auto pool = pools.find(given);
    if (!pool || !value) return INVALID_VALUE;
    if (attribute >= FOLLOW_EVENTS && attribute <= INTERNAL_DEPENDENCIES) return SUCCESS;
    bool is_reset = (attribute == MOST_RESERVED || attribute == MOST_USED) && !*value;
    if (attribute == THRESHOLD)
        pool->threshold = *value;
    else if (!is_reset)
        return INVALID_VALUE;
    if (attribute == MOST_RESERVED) pool->most_reserved = pool->reserved;
    if (attribute == MOST_USED) pool->most_used = pool->used;
    return SUCCESS;
}
int cuMemPoolGetAttribute(Pool* given, int attribute, void* value) {
    auto& pools = Pools::get();
    std::lock_guard guard(pools.turn);
    auto pool = pools.find(given);
    if (!pool || !value || attribute < FOLLOW_EVENTS || attribute > MOST_USED) return INVALID_VALUE;
    if (attribute <= INTERNAL_DEPENDENCIES) {
        *static_cast<int*>(value) = 1;
        return SUCCESS;
    }
    const std::uint64_t facts[] = {pool->threshold, pool->reserved, pool->most_reserved, pool->used, pool->most_used};
    *static_cast<std::uint64_t*>(value) = facts[attribute - THRESHOLD];
    return SUCCESS;
}
}
