// The device's memory: blocks of the host's, by their first address.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

using Address = std::uintptr_t;

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
