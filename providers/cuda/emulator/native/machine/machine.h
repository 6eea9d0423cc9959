// A machine runs blocks, one at a time: it has the stacks of their threads and their shared memory.

#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "machine/block.h"
#include "machine/races.h"

class Machine {
   public:
    explicit Machine(int number);
    ~Machine();

    // Runs one block to its end, or to the launch's first fault.
    void run(Launch& launch, Extent place);

    // For kernels, on a thread's stack: waits, and goes on when another thread, or the scheduler, says so.
    void wait(Thread& thread, State state, int line);
    void leave();  // for ever

    void exchange(Thread& thread);
    int barrier(Thread& thread, std::uint32_t number, std::uint32_t count, int verb, int flag, bool is_aligned);
    char* shared(Block* block, Thread* thread, Address place, std::uint32_t size, std::uint32_t access, int line);
    std::uint32_t living_lanes(const Thread& thread) const { return lanes_[thread.warp()]; }
    bool is_stack(Address place) const;

    static constexpr int SYNC = 19;

   private:
    struct Barrier {
        std::uint32_t arrived = 0, flags = 0;
        bool is_aligned = false;
        std::vector<Thread*> waiting;
    };

    void run_threads(Launch& launch);
    void start(Thread& thread);
    void ended(Thread& thread);
    Thread& next();
    void make_ready(Thread& thread);
    void try_exchange(std::uint32_t warp, std::uint32_t mask);
    void check_alignment(const Barrier& barrier);
    std::string who_waits() const;
    char* stack_top(std::size_t number);
    static void enter();

    const int number_;
    Block block_{};
    std::vector<char> shared_;
    std::vector<char*> stacks_;
    std::vector<Thread> threads_;
    std::deque<Thread*> ready_;
    std::vector<std::uint32_t> lanes_;  // of each warp, those that have not ended
    std::vector<Barrier> barriers_;
    std::uint32_t left_ = 0;
    std::uint64_t turns_ = 0;  // since anything went on
    Races races_;
    void* scheduler_ = nullptr;
    Thread* running_ = nullptr;
    std::uint64_t random_ = 0;
};

// Runs a launch on this thread and, if it is large, on others.
void run(Launch& launch);

// What decides the order of threads and the errors of approximate functions: EP_CUDA_EMULATOR_SEED.
std::uint64_t seed();
