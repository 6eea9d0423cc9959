// Modules, their functions, and launches that are prepared.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "driver/context.h"
#include "machine/block.h"
#include "machine/object.h"
#include "machine/translator.h"

constexpr std::uint32_t SHARED_BY_DEFAULT = 48 << 10;
constexpr std::uint32_t MOST_THREADS = 1024;

struct Module;

struct Function {
    Module* module;
    EntryFacts facts;
    std::mutex turn;
    std::shared_ptr<Object> object;  // once it was launched
    void* code = nullptr;
    bool is_cooperative = false, is_hot = false;
    std::uint64_t threads_run = 0;
    std::uint32_t shared = 0;
    int dynamic_most = 0;
    // What programs of old set before they launch.
    Extent set_block{1, 1, 1};
    std::uint32_t set_dynamic = 0;
    std::vector<char> set_parameters;

    // Translates the entry if that was not done; the driver's code.
    int prepare(std::uint64_t threads);
};

struct Module {
    Context* context;
    int program = -1;
    std::map<std::string, std::unique_ptr<Function>> functions;
    std::map<std::string, std::pair<Address, std::size_t>> variables;
};

// Reads the text of a program. Returns the driver's code; `why` says more.
int read_program(const void* image, ProgramFacts& facts, std::string& why);
// A program's functions and variables in a context. Returns the driver's code.
int make_module(Context* context, const ProgramFacts& facts, Module** module);
// Waits for its work, and gives its memory back; the program stays.
void drop_module(Module* module);

// A launch with all that it needs; it may be run many times.
struct KernelPlan {
    Function* function = nullptr;
    Extent grid{}, block{};
    std::uint32_t dynamic = 0;
    std::vector<char> parameters;
};

// Takes the parameters by their addresses, or packed as `extra` says. Returns the driver's code.
int take_parameters(KernelPlan& plan, void** parameters, void** extra);
// Puts a launch into a stream; `function` may be a kernel of a library. Returns the driver's code.
int launch(Function* function, Extent grid, Extent block, unsigned dynamic, Stream* stream, void** parameters,
           void** extra, bool is_grid_wide = false);
// Runs it on this thread. Returns the driver's code.
int run(Context* context, const KernelPlan& plan);
