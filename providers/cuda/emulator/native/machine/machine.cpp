#include "machine/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "machine/switch.h"

namespace {

constexpr std::size_t STACK = 256 << 10;
constexpr std::size_t PAGE = 4096;

constexpr int LAUNCH_FAILED = 719;
constexpr int LAUNCH_TIMEOUT = 702;
constexpr int ILLEGAL_ADDRESS = 700;
constexpr int MISALIGNED_ADDRESS = 716;

thread_local Machine* current = nullptr;

struct Left {};

std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

std::string spelled(const std::uint32_t place[3]) {
    return "(" + std::to_string(place[0]) + ", " + std::to_string(place[1]) + ", " + std::to_string(place[2]) + ")";
}

// Turns that threads may take while none of them gets on.
std::uint64_t patience() {
    static const std::uint64_t turns = [] {
        const char* chosen = std::getenv("EP_CUDA_EMULATOR_PATIENCE");
        return chosen ? std::strtoull(chosen, nullptr, 0) : 20'000'000;
    }();
    return turns;
}

bool is_chosen(const char* name, bool usual) {
    const char* chosen = std::getenv(name);
    return chosen ? std::strcmp(chosen, "0") != 0 : usual;
}

bool is_in_step() {
    static const bool is_on = is_chosen("EP_CUDA_EMULATOR_IN_STEP", false);
    return is_on;
}

bool finds_races() {
    static const bool is_on = is_chosen("EP_CUDA_EMULATOR_RACES", true);
    return is_on;
}

}  // namespace

std::uint64_t seed() {
    static const std::uint64_t value = [] {
        const char* chosen = std::getenv("EP_CUDA_EMULATOR_SEED");
        return mixed(chosen ? std::strtoull(chosen, nullptr, 0) : 0);
    }();
    return value;
}

void fault(Block* block, const std::uint32_t tid[3], int line, int code, const std::string& what) {
    int none = 0;
    auto& launch = *block->launch;
    if (launch.failure.compare_exchange_strong(none, code)) {
        std::string where =
            "emulated CUDA: kernel " + launch.kernel + ", block " + spelled(block->ctaid) + ", thread " + spelled(tid);
        if (line) where += ", line " + std::to_string(line) + " of the PTX";
        say(where + ": " + what);
    }
    block->machine->leave();
    __builtin_unreachable();
}

void fault(Thread* thread, int line, int code, const std::string& what) {
    fault(thread->block, thread->tid, line, code, what);
}

Machine::Machine(int number) : number_(number), shared_(SHARED_MOST + 16), barriers_(16) {
    block_.machine = this;
}

Machine::~Machine() {
    for (char* stack : stacks_) munmap(stack, STACK);
}

// The page below each stack is no memory: a kernel that needs more ends there, and not in its neighbour's.
char* Machine::stack_top(std::size_t number) {
    while (stacks_.size() <= number) {
        void* memory = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) std::abort();
        mprotect(memory, PAGE, PROT_NONE);
        stacks_.push_back(static_cast<char*>(memory));
    }
    return stacks_[number] + STACK;
}

bool Machine::is_stack(Address place) const {
    for (char* stack : stacks_)
        if (place - reinterpret_cast<Address>(stack) < STACK) return true;
    return false;
}

void Machine::start(Thread& thread) {
    auto** top = reinterpret_cast<void**>(stack_top(thread.number));
    *--top = nullptr;  // keeps the stack aligned as after a call
    *--top = reinterpret_cast<void*>(&Machine::enter);
    for (int place = 0; place < KEPT_REGISTERS; ++place) *--top = nullptr;
    thread.stack = top;
}

void Machine::enter() {
    auto& machine = *current;
    auto& thread = *machine.running_;
    auto& launch = *thread.block->launch;
    if (launch.is_cooperative)
        reinterpret_cast<void (*)(Thread*)>(launch.code)(&thread);
    else
        reinterpret_cast<void (*)(Block*)>(launch.code)(thread.block);
    thread.state = State::DONE;
    machine.leave();
}

void Machine::leave() {
    if (!running_) throw Left{};  // the scheduler itself found the fault
    void* unused;
    ep_switch(&unused, scheduler_);
}

void Machine::wait(Thread& thread, State state, int line) {
    thread.state = state;
    thread.line = line;
    ep_switch(&thread.stack, scheduler_);
}

void Machine::run(Launch& launch, Extent place) {
    current = this;
    std::copy_n(&launch.block.x, 3, block_.ntid);
    std::copy_n(&launch.grid.x, 3, block_.nctaid);
    std::copy_n(&place.x, 3, block_.ctaid);
    block_.shared_size = launch.shared + launch.dynamic;
    block_.dynamic_size = launch.dynamic;
    block_.smid = static_cast<std::uint32_t>(number_);
    block_.parameters = launch.parameters.data();
    block_.shared = shared_.data();
    block_.launch = &launch;
    running_ = nullptr;
    if (launch.is_cooperative) {
        try {
            run_threads(launch);
        } catch (const Left&) {
        }
        return;
    }
    threads_.assign(1, Thread{});
    threads_[0].block = &block_;
    start(threads_[0]);
    running_ = &threads_[0];
    ep_switch(&scheduler_, threads_[0].stack);
}

void Machine::run_threads(Launch& launch) {
    auto count = static_cast<std::uint32_t>(launch.block.count());
    threads_.assign(count, Thread{});
    lanes_.assign((count + 31) / 32, 0);
    for (auto& barrier : barriers_) barrier = {};
    races_.begin(block_.shared_size, lanes_.size());
    std::memset(shared_.data(), 0xcd, block_.shared_size);  // nobody has written it
    ready_.clear();
    for (std::uint32_t number = 0; number < count; ++number) {
        auto& thread = threads_[number];
        thread.block = &block_;
        thread.number = number;
        thread.tid[0] = number % launch.block.x;
        thread.tid[1] = number / launch.block.x % launch.block.y;
        thread.tid[2] = number / launch.block.x / launch.block.y;
        lanes_[thread.warp()] |= 1u << thread.lane();
        start(thread);
        ready_.push_back(&thread);
    }
    left_ = count;
    turns_ = 0;
    random_ = mixed(seed() ^ (block_.ctaid[0] + 77 * block_.ctaid[1] + 7777 * block_.ctaid[2]));
    while (left_ && !launch.failure) {
        if (ready_.empty() || ++turns_ > patience()) {
            bool is_stuck = ready_.empty();
            auto& thread =
                *std::find_if(threads_.begin(), threads_.end(), [](auto& each) { return each.state != State::DONE; });
            int none = 0;
            if (launch.failure.compare_exchange_strong(none, is_stuck ? LAUNCH_FAILED : LAUNCH_TIMEOUT))
                say("emulated CUDA: kernel " + launch.kernel + ", block " + spelled(block_.ctaid) + ", thread " +
                    spelled(thread.tid) + ": the block makes no progress: " + who_waits());
            return;
        }
        auto& thread = next();
        running_ = &thread;
        ep_switch(&scheduler_, thread.stack);
        running_ = nullptr;
        if (thread.state == State::READY)
            ready_.push_back(&thread);
        else if (thread.state == State::DONE && !launch.failure)
            ended(thread);
    }
}

// Any thread that is ready; or, where programs rely on warps in step, the one that has waited longest, so that each
// does one access of volatile memory before any does its next.
Thread& Machine::next() {
    Thread* chosen = ready_.front();
    if (is_in_step()) {
        ready_.pop_front();
        return *chosen;
    }
    random_ = random_ * 6364136223846793005 + 1442695040888963407;
    auto& place = ready_[(random_ >> 33) % ready_.size()];
    chosen = place;
    place = ready_.back();
    ready_.pop_back();
    return *chosen;
}

// A lane that ends is no longer waited for in exchanges; barriers wait for it for ever.
void Machine::ended(Thread& thread) {
    --left_;
    turns_ = 0;
    lanes_[thread.warp()] &= ~(1u << thread.lane());
    std::uint32_t first = thread.warp() * 32;
    for (std::uint32_t lane = 0; lane < 32 && first + lane < threads_.size(); ++lane)
        if (threads_[first + lane].state == State::IN_EXCHANGE)
            try_exchange(thread.warp(), threads_[first + lane].mask);
}

void Machine::make_ready(Thread& thread) {
    turns_ = 0;
    thread.state = State::READY;
    if (&thread != running_) ready_.push_back(&thread);
}

std::string Machine::who_waits() const {
    std::map<std::string, std::uint32_t> counts;
    std::uint32_t done = 0;
    for (auto& thread : threads_) {
        std::string at = " at line " + std::to_string(thread.line);
        if (thread.state == State::DONE)
            ++done;
        else if (thread.state == State::AT_BARRIER)
            ++counts["wait at barrier " + std::to_string(thread.barrier) + at];
        else if (thread.state == State::IN_EXCHANGE)
            ++counts["wait for lanes of their warp" + at];
        else
            ++counts["go round" + (thread.line ? at : "")];
    }
    std::string text;
    for (auto& [what, count] : counts) text += (text.empty() ? "" : ", ") + std::to_string(count) + " threads " + what;
    if (done) text += ", " + std::to_string(done) + " have returned";
    return text;
}

void Machine::check_alignment(const Barrier& barrier) {
    if (!barrier.is_aligned) return;
    int lines[32] = {};  // of the first thread of each warp
    for (auto* thread : barrier.waiting) {
        int& line = lines[thread->warp()];
        if (!line) line = thread->line;
        if (line != thread->line)
            fault(thread, thread->line, LAUNCH_FAILED,
                  "threads of one warp are at different barriers, the other at line " + std::to_string(line) +
                      ": bar.sync has to be reached by whole warps");
    }
}

int Machine::barrier(Thread& thread, std::uint32_t number, std::uint32_t count, int verb, int flag, bool is_aligned) {
    constexpr int SYNC_VERB = 0, ARRIVE = 1, POPC = 2, AND = 3;
    if (number >= barriers_.size())
        fault(&thread, thread.line, LAUNCH_FAILED,
              "there is no barrier " + std::to_string(number) + "; they are 0 to 15");
    auto& barrier = barriers_[number];
    std::uint32_t all = static_cast<std::uint32_t>(threads_.size());
    std::uint32_t expected = count ? count : all;
    ++barrier.arrived;
    barrier.flags += flag != 0;
    barrier.is_aligned |= is_aligned;
    thread.barrier = number;
    if (verb != ARRIVE) barrier.waiting.push_back(&thread);
    if (barrier.arrived < expected) {
        if (verb == ARRIVE) return 0;
        wait(thread, State::AT_BARRIER, thread.line);
    } else {
        check_alignment(barrier);
        if (expected >= all) races_.next_epoch();
        std::uint64_t answer = verb == POPC || verb <= ARRIVE ? barrier.flags
                               : verb == AND                  ? barrier.flags == barrier.arrived
                                                              : barrier.flags > 0;
        auto waiting = std::move(barrier.waiting);
        barrier = {};
        for (auto* other : waiting) {
            other->result = answer;
            make_ready(*other);
        }
        turns_ = 0;
    }
    return verb == SYNC_VERB ? 0 : static_cast<int>(thread.result);
}

char* Machine::shared(Block* block, Thread* thread, Address place, std::uint32_t size, std::uint32_t access, int line) {
    place &= 0xffffffff;
    if (place + size > block->shared_size)
        fault(thread, line, ILLEGAL_ADDRESS,
              std::string(access == READ || access == OPEN_READ ? "reads " : "writes ") + std::to_string(size) +
                  " bytes at " + std::to_string(place) + " of shared memory, which has " +
                  std::to_string(block->shared_size));
    if (place & (size - 1))
        fault(thread, line, MISALIGNED_ADDRESS,
              "an access of " + std::to_string(size) + " bytes at " + std::to_string(place) +
                  " of shared memory, which is no multiple");
    if (access < OPEN_READ && finds_races()) {
        auto other = races_.access(thread->number, place, size, static_cast<Access>(access));
        if (other.exists)
            fault(thread, line, LAUNCH_FAILED,
                  std::string("a race: ") + (access == READ ? "reads" : "writes") + " byte " + std::to_string(place) +
                      " of shared memory, which thread " + spelled(threads_[other.thread].tid) +
                      (other.access == READ ? " read" : " wrote") + " since the last barrier");
    }
    return block->shared + place;
}
