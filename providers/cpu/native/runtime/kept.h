// Memory that a thread keeps from one launch to the next.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace ep {

// The bytes that all threads keep.
inline std::atomic<int64_t> kept_bytes{0};

// The block of `NBYTES` that this thread keeps for `Use`, from its first launch that needs it to its end; null without
// memory.
template <class Use, int64_t NBYTES>
char* kept() {
    struct Free {
        void operator()(char* block) const {
            std::free(block);
            kept_bytes -= NBYTES;
        }
    };
    thread_local std::unique_ptr<char, Free> block;
    if (!block) {
        block.reset(static_cast<char*>(std::aligned_alloc(4096, NBYTES)));
        if (block) kept_bytes += NBYTES;
    }
    return block.get();
}

}  // namespace ep
