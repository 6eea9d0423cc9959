// The process-wide worker pool.
#pragma once

#include <cstdint>

namespace ep {

// Threads a parallel region may use, the caller's included.
int threads();

// Run part(context, i) for 0 <= i < count, on this thread and the workers; returns when all are done. Which thread runs
// which part is open. If the pool is taken by another caller, or count is 1, all parts run here.
void parallel(int count, void (*part)(void* context, int index), void* context);

// How many pieces of b cover a.
constexpr int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

// Bytes moved below which another thread is not worth waking.
constexpr int64_t GRAIN = int64_t{64} << 10;

// How many parts a job is worth. Large ones are cut finer, so that a thread that is held up delays less.
inline int parts(int64_t traffic) {
    const int64_t worth = traffic / GRAIN;
    if (worth <= 1) return 1;
    const int most = threads();
    if (most == 1) return 1;
    if (worth >= int64_t{64} * most) return 4 * most;
    return worth < most ? static_cast<int>(worth) : most;
}

}  // namespace ep
