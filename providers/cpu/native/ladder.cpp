// The instruction sets, best first, and the choice among them.
#include "native.h"

namespace {

struct Rung {
    const char* isa;
    const ep_table* table;
    bool (*is_here)();
};

const Rung LADDER[] = {
#if EP_X86
    {"avx512", &ep::avx512_table,
     [] {
         return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
     }},
    {"avx2", &ep::avx2_table,
     [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"); }},
#else
    {"avx512", nullptr, [] { return false; }},
    {"avx2", nullptr, [] { return false; }},
#endif
    {"baseline", &ep::baseline_table, [] { return true; }},
};

constexpr int RUNGS = sizeof LADDER / sizeof *LADDER;

}  // namespace

extern "C" const char* ep_isa(int rung) {
    return rung >= 0 && rung < RUNGS ? LADDER[rung].isa : nullptr;
}

extern "C" const ep_table* ep_open(const char* limit) {
    bool is_below = *limit == '\0';
    for (const Rung& rung : LADDER) {
        is_below = is_below || std::strcmp(rung.isa, limit) == 0;
        if (is_below && rung.is_here()) return rung.table;
    }
    return nullptr;
}
