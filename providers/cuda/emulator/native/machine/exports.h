// Functions that compiled kernels call, by their names.

#pragma once

#include <string>
#include <unordered_map>

inline std::unordered_map<std::string, void*>& exports() {
    static auto* all = new std::unordered_map<std::string, void*>;
    return *all;
}

struct Export {
    Export(const char* name, void* function) { exports()[name] = function; }
};

// After the definition of a function: kernels may call it.
#define EXPORT(name)                          \
    static const Export export_##name {       \
        #name, reinterpret_cast<void*>(&name) \
    }
