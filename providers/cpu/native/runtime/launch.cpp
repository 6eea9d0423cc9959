// The entries of kernels: one takes a packed block, the others its parts.
#include "native.h"

namespace {

constexpr int NUMBERS = EP_NUMBERS * EP_NUMBER;

// An ep_packed with room for its addresses, and for numbers in as many words.
template <int count>
struct Packed {
    const void* plan;
    intptr_t at[count];
};

static_assert(offsetof(Packed<1>, at) == offsetof(ep_packed, at));

}  // namespace

extern "C" int ep_enter(const void* packed) {
    return ep::plan_of<ep_plan>(packed).row->enter(packed);
}

extern "C" int ep_enter2(const void* plan, intptr_t a, intptr_t b) {
    const Packed<2> packed = {plan, {a, b}};
    return ep_enter(&packed);
}

extern "C" int ep_enter3(const void* plan, intptr_t a, intptr_t b, intptr_t c) {
    const Packed<3> packed = {plan, {a, b, c}};
    return ep_enter(&packed);
}

extern "C" int ep_enter6(const void* plan, int64_t count, const char* numbers, intptr_t a, intptr_t b, intptr_t c,
                         intptr_t d, intptr_t e, intptr_t f) {
    Packed<6 + NUMBERS / sizeof(intptr_t)> packed;
    packed.plan = plan;
    const intptr_t at[] = {a, b, c, d, e, f};
    std::memcpy(packed.at, at, sizeof at);
    std::memcpy(packed.at + count, numbers, NUMBERS);
    return ep_enter(&packed);
}

extern "C" int ep_enter_all(const void* plan, int64_t count, const intptr_t* at) {
    Packed<EP_PLACES> packed;
    packed.plan = plan;
    std::memcpy(packed.at, at, static_cast<size_t>(count) * sizeof *at);
    return ep_enter(&packed);
}
