// The launch of Where: numbers become elements, which are operands that stay where they are.
#include "where.h"

int ep::where(const void* packed) {
    const auto& p = *static_cast<const ep_packed*>(packed);
    const auto& g = plan_of<ep_geometry>(packed);
    const int is_number = g.scalar < 0 ? 0 : g.scalar;
    const ep_storage& storage = *g.row->from;
    alignas(EP_NUMBER) char elements[EP_NUMBERS][EP_NUMBER];
    Launch launch = {&g, {}, 0};
    for (int k = 0, tensor = 0, number = 0; k < EP_OPERANDS; ++k) {
        if ((is_number >> k & 1) == 0) {
            launch.at[k] = place(&g, k, p.at[tensor++]);
        } else {
            storage.store(p.number[number], elements[number], storage.size, 1, false);
            launch.at[k] = elements[number++];
        }
    }
    return enter(launch);
}
