// Who read and wrote each byte of a block's shared memory since threads last waited for each other.

#pragma once

#include <cstdint>
#include <vector>

class Races {
   public:
    struct Other {
        bool exists = false;
        std::uint32_t thread = 0;
        bool wrote = false;
    };

    // All that was recorded is over: a new block, or a barrier that all threads reached.
    void next_epoch() { ++epoch_; }
    // The threads of a warp have waited for each other.
    void next_epoch_of(std::uint32_t warp) { ++warps_[warp]; }
    void begin(std::size_t bytes, std::size_t warps);
    // Takes note of an access; returns the other thread of a conflict.
    Other access(std::uint32_t thread, std::size_t place, std::size_t size, bool writes);

   private:
    struct Mark {
        std::uint64_t epoch = 0;
        std::uint32_t in_warp = 0;
        std::uint32_t thread = 0;
        bool many = false;  // of several warps
    };
    struct Byte {
        Mark written, read;
    };
    bool conflicts(const Mark& mark, std::uint32_t thread) const;

    std::vector<Byte> bytes_;
    std::vector<std::uint32_t> warps_;
    std::uint64_t epoch_ = 1;
};
