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

intptr_t address(char* tensor, int64_t at) {
    return reinterpret_cast<intptr_t>(tensor) + at;
}

}  // namespace

extern "C" int ep_enter(const void* packed) {
    return ep::plan_of<ep_plan>(packed).row->enter(packed);
}

extern "C" int ep_enter2(const void* plan, char* a, int64_t a_at, char* b, int64_t b_at) {
    const Packed<2> packed = {plan, {address(a, a_at), address(b, b_at)}};
    return ep_enter(&packed);
}

extern "C" int ep_enter3(const void* plan, char* a, int64_t a_at, char* b, int64_t b_at, char* c, int64_t c_at) {
    const Packed<3> packed = {plan, {address(a, a_at), address(b, b_at), address(c, c_at)}};
    return ep_enter(&packed);
}

extern "C" int ep_enter6(const void* plan, int64_t count, const char* numbers, char* a, int64_t a_at, char* b,
                         int64_t b_at, char* c, int64_t c_at, char* d, int64_t d_at, char* e, int64_t e_at, char* f,
                         int64_t f_at) {
    Packed<6 + NUMBERS / sizeof(intptr_t)> packed;
    packed.plan = plan;
    const intptr_t at[] = {address(a, a_at), address(b, b_at), address(c, c_at),
                           address(d, d_at), address(e, e_at), address(f, f_at)};
    std::memcpy(packed.at, at, sizeof at);
    std::memcpy(packed.at + count, numbers, NUMBERS);
    return ep_enter(&packed);
}

extern "C" int ep_enter_all(const void* plan, int64_t count, char* const* tensors, const int64_t* at) {
    Packed<EP_PLACES> packed;
    packed.plan = plan;
    for (int64_t k = 0; k < count; ++k) packed.at[k] = address(tensors[k], at[k]);
    return ep_enter(&packed);
}
