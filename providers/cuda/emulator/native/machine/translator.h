// The process that translates PTX to objects, and what it says about programs.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Parameter {
    std::size_t offset, size;
};

struct EntryFacts {
    std::string name;
    std::uint32_t most_threads = 0;
    std::size_t parameter_bytes = 0;
    std::vector<Parameter> parameters;
};

struct VariableFacts {
    std::string name, space;
    std::size_t align = 1, size = 0;
    std::string initial;  // bytes, fewer than its size if the rest is zero
};

struct ProgramFacts {
    int handle = -1;
    std::vector<EntryFacts> entries;
    std::vector<VariableFacts> variables;
};

struct Built {
    bool is_cooperative = false;
    std::uint32_t shared = 0;
    std::string object;
};

// Both return the driver's code, and say in `why` what is wrong.
int load_program(const std::string& ptx, ProgramFacts& facts, std::string& why);
int build_entry(int program, const std::string& entry, bool is_hot, Built& built, std::string& why);
void forget_program(int program);
