// Who read, wrote and atomically changed each byte of a block's shared memory since threads last waited for each other.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// How a kernel uses memory, as the translator numbers it. Open accesses, volatile or with an order of their own, are
// how threads tell each other without a barrier.
enum Access : std::uint32_t { READ, WRITE, ATOMIC, OPEN_READ, OPEN_WRITE };

class Races {
   public:
    struct Other {
        bool exists = false;
        std::uint32_t thread = 0;
        Access access = READ;
    };

    // All that was recorded is over: a new block, or a barrier that all threads reached.
    void next_epoch() { ++epoch_; }
    // The threads of a warp have waited for each other.
    void next_epoch_of(std::uint32_t warp) { ++warps_[warp]; }
    void begin(std::size_t bytes, std::size_t warps);
    // Takes note of an access; returns the other thread of a conflict.
    Other access(std::uint32_t thread, std::size_t place, std::size_t size, Access access);

   private:
    // An access in one word: the epoch, the thread, the epoch of its warp, and whether several warps did the same.
    using Mark = std::uint64_t;
    static constexpr int EPOCH_SHIFT = 28, THREAD_SHIFT = 17, WARP_SHIFT = 1;
    static std::uint32_t thread_of(Mark mark) { return mark >> THREAD_SHIFT & 2047; }
    Mark mark(std::uint32_t thread) const {
        return epoch_ << EPOCH_SHIFT | std::uint64_t{thread} << THREAD_SHIFT |
               std::uint64_t{warps_[thread >> 5]} << WARP_SHIFT;
    }
    bool conflicts(Mark mark, std::uint32_t thread) const;

    struct Marks {
        Mark last[OPEN_READ] = {};  // by kind of access
    };
    // Accesses of whole words, as most are, are recorded by the word, until one of less comes in the same epoch.
    static constexpr std::size_t WORD = 4;
    struct Word {
        Marks marks;
        std::uint64_t split = 0;  // the epoch in which its bytes were last recorded one by one
    };
    // Takes note of an access, or returns false at a conflict.
    bool take(Marks& marks, std::uint32_t thread, Mark own, Access access) const;
    Other other(const Marks& marks, std::uint32_t thread, Access access) const;
    std::vector<Word> words_;
    std::vector<Marks> bytes_;
    std::vector<std::uint16_t> warps_;
    std::uint64_t epoch_ = 1;
};
