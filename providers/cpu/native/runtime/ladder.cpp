// The instruction sets, best first, and the choice among them.
#include "native.h"
// EP_PARTS(X, isa) and EP_SHARED_PARTS(X): X of each part of the tables, which CMake finds in the lists of the folders;
// EP_AMX_PARTS(X) of those that AMX has for itself, EP_NO_AMX_PARTS(X) of those that it has from AVX-512.
#include "parts.h"

#if EP_AMX
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ep {

#define EP_DECLARE(isa, name) extern const ep_part isa##_##name##_part;
#define EP_DECLARE_SHARED(name) EP_DECLARE(shared, name)
EP_PARTS(EP_DECLARE, baseline)
#if EP_X86
EP_PARTS(EP_DECLARE, avx2)
EP_PARTS(EP_DECLARE, avx512)
#endif
#if EP_AMX
EP_AMX_PARTS(EP_DECLARE)
#endif
EP_SHARED_PARTS(EP_DECLARE_SHARED)

}  // namespace ep

namespace {

template <size_t count>
constexpr ep_table table_of(const char* isa, const ep_part* const (&parts)[count]) {
    return {isa, parts, count};
}

// clang-format off
#define EP_POINTER(isa, name) &ep::isa##_##name##_part,
#define EP_POINTER_TO_SHARED(name) EP_POINTER(shared, name)
#define EP_ALL_PARTS(isa) {EP_PARTS(EP_POINTER, isa) EP_SHARED_PARTS(EP_POINTER_TO_SHARED)}
const ep_part* const BASELINE_PARTS[] = EP_ALL_PARTS(baseline);
#if EP_X86
const ep_part* const AVX2_PARTS[] = EP_ALL_PARTS(avx2);
const ep_part* const AVX512_PARTS[] = EP_ALL_PARTS(avx512);
#endif
#if EP_AMX
const ep_part* const AMX_PARTS[] = {EP_AMX_PARTS(EP_POINTER) EP_NO_AMX_PARTS(EP_POINTER)
                                        EP_SHARED_PARTS(EP_POINTER_TO_SHARED)};
#endif
// clang-format on

struct Rung {
    ep_table table;
    bool (*is_here)();
};

#if EP_X86
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

bool has_avx512() {
    if (EP_EMULATED) return has_avx2();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c");
}
#endif

#if EP_AMX
// Linux saves tiles only for processes that have asked for them, and refuses those whose stacks for signals have no
// room for 8 KiB more: https://docs.kernel.org/arch/x86/xstate.html.
bool has_amx() {
    constexpr long ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18;
    return has_avx512() && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("amx-tile") &&
           __builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("amx-int8") &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#endif

const Rung LADDER[] = {
#if EP_AMX
    {table_of("amx", AMX_PARTS), has_amx},
#else
    {{"amx", nullptr, 0}, [] { return false; }},
#endif
#if EP_X86
    {table_of("avx512", AVX512_PARTS), has_avx512},
    {table_of("avx2", AVX2_PARTS), has_avx2},
#else
    {{"avx512", nullptr, 0}, [] { return false; }},
    {{"avx2", nullptr, 0}, [] { return false; }},
#endif
    {table_of("baseline", BASELINE_PARTS), [] { return true; }},
};

constexpr int RUNGS = sizeof LADDER / sizeof *LADDER;

}  // namespace

extern "C" const char* ep_isa(int rung) {
    return rung >= 0 && rung < RUNGS ? LADDER[rung].table.isa : nullptr;
}

extern "C" const ep_table* ep_open(const char* limit) {
    bool is_below = *limit == '\0';
    for (const Rung& rung : LADDER) {
        is_below = is_below || std::strcmp(rung.table.isa, limit) == 0;
        if (is_below && rung.is_here()) return &rung.table;
    }
    return nullptr;
}
