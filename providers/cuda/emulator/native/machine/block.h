// A launch, a block of it, and its threads, as compiled kernels and the machine that runs them see each other.

#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "machine/layout.h"

class Machine;
struct Thread;

struct Extent {
    std::uint32_t x, y, z;
    std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// One launch of a kernel; it ends early with the first fault.
struct Launch {
    std::string kernel;
    void* code;           // of a thread if the kernel is cooperative, else of a block
    bool is_cooperative;  // its threads wait for each other
    Extent grid, block;
    std::uint32_t shared, dynamic;
    std::vector<char> parameters;
    std::atomic<std::uint64_t> next{0};
    std::atomic<int> failure{0};
};

// Kernels read the first fields by their number: ep_cuda_emulator/lowering/writer.py has their names.
struct Block {
    std::uint32_t ntid[3], nctaid[3], ctaid[3];
    std::uint32_t shared_size, dynamic_size, smid, gridid;
    char* parameters;
    char* shared;
    Launch* launch;
    Machine* machine;
};
constexpr std::size_t PARAMETERS_PLACE = offsetof(Block, parameters);
static_assert(PARAMETERS_PLACE == 56);

enum class State : std::uint8_t { READY, AT_BARRIER, IN_EXCHANGE, DONE };

// A thread of a block whose threads take turns. Kernels read the block and the place.
struct Thread {
    Block* block;
    std::uint32_t tid[3];
    std::uint32_t number;
    void* stack;  // where it goes on
    State state;
    int line;  // where it waits
    std::uint32_t barrier;
    std::uint32_t verb, mask;  // of an exchange
    std::uint64_t value, extra, result;

    std::uint32_t lane() const { return number & 31; }
    std::uint32_t warp() const { return number >> 5; }
};
static_assert(offsetof(Thread, tid) == 8);

// Says what is wrong, once, lets the launch end with the driver's code, and leaves the kernel.
[[noreturn]] void fault(Block* block, const std::uint32_t tid[3], int line, int code, const std::string& what);
[[noreturn]] void fault(Thread* thread, int line, int code, const std::string& what);

// Text for people, on the standard error stream and in the file that EP_CUDA_EMULATOR_LOG names.
void say(const std::string& text);
