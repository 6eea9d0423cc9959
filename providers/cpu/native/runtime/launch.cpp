// The ways into a kernel: a packed block, or what it is made of.
#include "native.h"

extern "C" int ep_enter(const void* packed) {
    return ep::plan_of<ep_plan>(packed).row->enter(packed);
}

extern "C" int ep_launch(const void* plan, int64_t count, const intptr_t* at, const char* numbers) {
    alignas(ep_packed) char block[sizeof(ep_packed) + EP_PLACES * sizeof(intptr_t)];
    auto* const packed = reinterpret_cast<ep_packed*>(block);
    packed->plan = plan;
    std::memcpy(packed->number, numbers, sizeof packed->number);
    std::memcpy(packed->at, at, static_cast<size_t>(count) * sizeof *at);
    return ep_enter(packed);
}
