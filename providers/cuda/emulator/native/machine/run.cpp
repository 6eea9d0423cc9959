// Spreads the blocks of a launch over machines.

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "machine/machine.h"

namespace {

constexpr std::uint64_t FEW_THREADS = 8192;

void take_blocks(Launch& launch, Machine& machine) {
    std::uint64_t count = launch.grid.count();
    for (std::uint64_t number; !launch.failure && (number = launch.next++) < count;) {
        auto x = static_cast<std::uint32_t>(number % launch.grid.x);
        auto y = static_cast<std::uint32_t>(number / launch.grid.x % launch.grid.y);
        auto z = static_cast<std::uint32_t>(number / launch.grid.x / launch.grid.y);
        machine.run(launch, {x, y, z});
    }
}

// Machines that nobody uses; there are as many as ever ran at once.
class Machines {
   public:
    static Machines& get() {
        static Machines* one = new Machines;
        return *one;
    }
    std::unique_ptr<Machine> take() {
        std::lock_guard guard(turn_);
        if (idle_.empty()) return std::make_unique<Machine>(made_++);
        auto machine = std::move(idle_.back());
        idle_.pop_back();
        return machine;
    }
    void give(std::unique_ptr<Machine> machine) {
        std::lock_guard guard(turn_);
        idle_.push_back(std::move(machine));
    }

   private:
    std::mutex turn_;
    std::vector<std::unique_ptr<Machine>> idle_;
    int made_ = 0;
};

// Threads that help with large launches.
class Crew {
   public:
    static Crew& get() {
        static Crew* one = new Crew;
        return *one;
    }
    void share(Launch& launch) {
        std::unique_lock guard(turn_);
        launch_ = &launch;
        ++round_;
        changed_.notify_all();
        guard.unlock();
        auto machine = Machines::get().take();
        take_blocks(launch, *machine);
        Machines::get().give(std::move(machine));
        guard.lock();
        launch_ = nullptr;
        changed_.wait(guard, [this] { return !busy_; });
    }
    std::mutex one_at_a_time;

   private:
    Crew() {
        const char* chosen = std::getenv("EP_CUDA_EMULATOR_THREADS");
        unsigned count = chosen ? std::strtoul(chosen, nullptr, 0) : std::min(8u, std::thread::hardware_concurrency());
        for (unsigned number = 1; number < count; ++number) std::thread(&Crew::work, this).detach();
    }
    void work() {
        std::uint64_t seen = 0;
        std::unique_lock guard(turn_);
        for (;;) {
            changed_.wait(guard, [&] { return launch_ && round_ != seen; });
            seen = round_;
            auto& launch = *launch_;
            ++busy_;
            guard.unlock();
            auto machine = Machines::get().take();
            take_blocks(launch, *machine);
            Machines::get().give(std::move(machine));
            guard.lock();
            --busy_;
            changed_.notify_all();
        }
    }

    std::mutex turn_;
    std::condition_variable changed_;
    Launch* launch_ = nullptr;
    std::uint64_t round_ = 0;
    int busy_ = 0;
};

}  // namespace

void run(Launch& launch) {
    bool is_large = launch.grid.count() > 1 && launch.grid.count() * launch.block.count() > FEW_THREADS;
    if (is_large) {
        std::unique_lock guard(Crew::get().one_at_a_time, std::try_to_lock);
        if (guard) return Crew::get().share(launch);
    }
    auto machine = Machines::get().take();
    take_blocks(launch, *machine);
    Machines::get().give(std::move(machine));
}
