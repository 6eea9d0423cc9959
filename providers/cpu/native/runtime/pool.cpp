// The worker pool: each thread claims its own parts, which are neighbours and the same ones in launches of equal sizes,
// so that it finds in its caches what the launch before left there; then those that others have not come to. Idle
// workers spin for a while, then sleep. A caller that finds the pool taken works alone, and for each such caller one
// worker stays away: concurrent kernels never have more threads than the pool, as long as there are not more callers.
#include "pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "native.h"

#if __has_include(<pthread.h>)
#include <pthread.h>
#define EP_FORKS 1
#else
#define EP_FORKS 0
#endif

namespace {

// libgomp's default spin (300,000 pauses) is of this order.
constexpr std::chrono::microseconds SPIN{1000};

void pause_briefly() {
#if EP_X86
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

class Pool {
   public:
    explicit Pool(int threads)
        : threads_(threads),
          spins_(threads <= static_cast<int>(std::thread::hardware_concurrency())),
          tickets_(static_cast<size_t>(threads)) {
        for (int i = 1; i < threads; ++i) {
            try {
                std::thread([this, i] { work(i); }).detach();
            } catch (const std::system_error&) {
                return;  // Fewer workers are slower, not wrong.
            }
        }
    }

    void run(int count, void (*part)(void*, int), void* context) {
        callers_.fetch_add(1, std::memory_order_relaxed);
        if (!run_together(count, part, context)) {
            for (int i = 0; i < count; ++i) part(context, i);
        }
        callers_.fetch_sub(1, std::memory_order_relaxed);
    }

   private:
    bool run_together(int count, void (*part)(void*, int), void* context) {
        if (is_taken_.exchange(true, std::memory_order_acquire)) return false;
        part_ = part;
        context_ = context;
        done_.store(0, std::memory_order_relaxed);
        const uint64_t job = ++job_ & 0xFFFFFFFF;
        const int shares = std::max(1, std::min(count, threads_ + 1 - callers_.load(std::memory_order_relaxed)));
        for (int i = 0; i < shares; ++i) {
            const uint64_t begin = static_cast<uint64_t>(count) * i / shares;
            const uint64_t end = static_cast<uint64_t>(count) * (i + 1) / shares;
            tickets_[i].value.store(job << 32 | end << 16 | begin, std::memory_order_release);
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (sleepers_.load(std::memory_order_relaxed) != 0 && has_place(1)) {
            const std::lock_guard<std::mutex> lock(mutex_);
            wake_.notify_all();
        }
        while (run_part(job, 0)) {
        }
        for (int spin = 0; done_.load(std::memory_order_acquire) != count; ++spin) {
            // Where cores are short, the worker needs this one.
            if (spin < 4096)
                pause_briefly();
            else
                std::this_thread::yield();
        }
        is_taken_.store(false, std::memory_order_release);
        return true;
    }

    bool has_place(int worker) const { return worker + callers_.load(std::memory_order_relaxed) <= threads_; }

    // A ticket holds job number (32 bits), the end of a thread's parts (16) and the next of them (16). A successful
    // claim pins the job: run() cannot return, so part_ and context_ cannot change, until the part is done.
    bool run_part_of(uint64_t job, int owner) {
        std::atomic<uint64_t>& own = tickets_[owner].value;
        uint64_t ticket = own.load(std::memory_order_acquire);
        do {
            if (ticket >> 32 != job || (ticket & 0xFFFF) >= (ticket >> 16 & 0xFFFF)) return false;
        } while (!own.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel));
        part_(context_, static_cast<int>(ticket & 0xFFFF));
        done_.fetch_add(1, std::memory_order_release);
        return true;
    }

    bool run_part(uint64_t job, int number) {
        for (int i = 0; i < threads_; ++i) {
            if (run_part_of(job, (number + i) % threads_)) return true;
        }
        return false;
    }

    void work(int number) {
        uint64_t seen = 0;
        for (;;) {
            seen = next_job(seen, number);
            while (has_place(number) && run_part(seen, number)) {
            }
        }
    }

    uint64_t job_of(int number) const { return tickets_[number].value.load(std::memory_order_seq_cst) >> 32; }

    uint64_t next_job(uint64_t seen, int number) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; spins_ && has_place(number); ++i) {
            const uint64_t job = job_of(number);
            if (job != seen) return job;
            pause_briefly();
            if (i % 64 == 63 && std::chrono::steady_clock::now() - start > SPIN) break;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, [&] { return job_of(number) != seen; });
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        return job_of(number);
    }

    struct alignas(64) Ticket {
        std::atomic<uint64_t> value{0};
    };

    const int threads_;
    const bool spins_;
    std::atomic<int> callers_{0};
    std::atomic<bool> is_taken_{false};
    std::atomic<int> sleepers_{0};
    std::mutex mutex_;
    std::condition_variable wake_;
    uint64_t job_ = 0;
    void (*part_)(void*, int) = nullptr;
    void* context_ = nullptr;
    std::vector<Ticket> tickets_;
    alignas(64) std::atomic<int> done_{0};
};

std::atomic<int> wanted{1};
// Never destroyed: workers may outlive static destructors, and a forked child must not touch its parent's.
std::atomic<Pool*> pool{nullptr};
std::mutex building;

#if EP_FORKS
// The child has none of the parent's workers, and its copy of a lock may be held by a thread that does not exist.
void forget_in_child() {
    pool.store(nullptr, std::memory_order_relaxed);
    new (&building) std::mutex;
}

// On loading: between the first pool and its registration a fork would find neither.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, forget_in_child);
#endif

Pool* the_pool() {
    Pool* here = pool.load(std::memory_order_acquire);
    if (here != nullptr) return here;
    const std::lock_guard<std::mutex> lock(building);
    here = pool.load(std::memory_order_acquire);
    if (here == nullptr) {
        here = new Pool(wanted.load());
        pool.store(here, std::memory_order_release);
    }
    return here;
}

}  // namespace

int ep::threads() {
    return wanted.load(std::memory_order_relaxed);
}

void ep::parallel(int count, void (*part)(void*, int), void* context) {
    if (count > 1)
        the_pool()->run(count, part, context);
    else if (count == 1)
        part(context, 0);
}

extern "C" void ep_set_threads(int count) {
    wanted.store(count < 1 ? 1 : count > 1024 ? 1024 : count);
}
extern "C" int ep_threads(void) {
    return ep::threads();
}
