// The memory that threads multiply in.
#include <atomic>
#include <cstdlib>
#include <memory>

#include "job.h"

namespace {

std::atomic<int64_t> kept{0};

template <int64_t NBYTES>
struct Free {
    void operator()(char* block) const {
        std::free(block);
        kept -= NBYTES;
    }
};

// A block of each thread for each size.
template <int64_t NBYTES>
char* block_of() {
    thread_local std::unique_ptr<char, Free<NBYTES>> block;
    if (!block) {
        block.reset(static_cast<char*>(std::aligned_alloc(4096, NBYTES)));
        if (block) kept += NBYTES;
    }
    return block.get();
}

}  // namespace

char* ep::products::workspace() {
    return block_of<WORKSPACE>();
}

char* ep::products::shared_panels() {
    return block_of<SHARED_BYTES>();
}

extern "C" int64_t ep_workspace(void) {
    return kept;
}
