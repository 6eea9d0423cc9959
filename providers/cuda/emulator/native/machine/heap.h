// The devices' memory: allocations in the range of device addresses.

#pragma once

#include <map>
#include <mutex>

#include "machine/layout.h"

enum class Kind { DEVICE, PINNED, MANAGED, VARIABLE };

struct Allocation {
    Address start = 0;
    std::size_t size = 0;
    Kind kind = Kind::DEVICE;
    int device = 0;
    int number = 0;  // counts all allocations, as reports name them
};

class Heap {
   public:
    static Heap& get();

    // Returns 0 if there is no room.
    Address allocate(std::size_t size, Kind kind, int device);
    // Returns false if nothing begins there.
    bool free(Address start);
    // The allocation that an address lies in; of no size if there is none.
    Allocation find(Address place);
    // The one that ends last before an address, living or freed: what was probably meant.
    Allocation before(Address place, bool* is_freed);
    // True if all bytes of a range belong to one allocation.
    bool holds(Address place, std::size_t size);

    // The same of device memory by the table alone, as kernels see it.
    static bool is_allocated(Address place, std::size_t size);

    std::size_t free_bytes(int device);
    // Counts bytes that nobody has as not free, or as free again.
    void keep(int device, std::size_t size, bool is_kept);

    // Memory of the host's own that the driver was told of.
    bool add_host(Address start, std::size_t size);
    bool remove_host(Address start);
    bool is_host(Address place, std::size_t size);

    static std::size_t total();
    static bool tracks_writes();
    static void mark_written(Address place, std::size_t size);

   private:
    Heap();
    Address place_for(std::size_t size, std::size_t align, int device);
    void fill_table(Address start, std::size_t size, bool is_allocated);

    struct Arena {
        Address start, end, next;
        std::map<Address, std::size_t> taken;
    };
    std::mutex turn_;
    int file_ = -1;
    Arena small_[MOST_DEVICES], large_[MOST_DEVICES];
    std::map<Address, Allocation> living_;
    std::map<Address, Allocation> freed_;  // the last of them
    std::map<Address, std::size_t> host_;
    std::size_t used_[MOST_DEVICES] = {};
    int count_ = 0;
};
