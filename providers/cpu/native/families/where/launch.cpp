// The launch of Where: numbers become elements, which are operands that stay where they are.
#include "where.h"

int ep::where(const void* packed) {
    const auto& p = *static_cast<const ep_packed*>(packed);
    const auto& g = plan_of<ep_geometry>(packed);
    Launch launch = {&g, {}, 0};
    for (int k = 0; k < EP_OPERANDS; ++k) launch.at[k] = place(&g, k, p.at[k]);
    alignas(EP_NUMBER) char elements[EP_NUMBERS][EP_NUMBER];
    const ep_storage& storage = *g.row->from;
    for (int i = 0; i < EP_NUMBERS; ++i) {
        if (p.at[i + 1] != 0) continue;
        storage.store(p.number[i], elements[i], storage.size, 1, false);
        launch.at[i + 1] = elements[i];
    }
    return enter(launch);
}
