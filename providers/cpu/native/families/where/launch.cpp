// The launch of Where: numbers become elements, which are operands that stay where they are.
#include "where.h"

int ep::where(const void* packed) {
    const auto& g = plan_of<ep_geometry>(packed);
    const int numbers = g.scalar < 0 ? 0 : g.scalar;
    const auto is_number = [&](int k) { return (numbers >> k & 1) != 0; };
    const ep_storage& storage = *g.row->from;
    alignas(EP_NUMBER) char elements[EP_OPERANDS][EP_NUMBER];
    Launch launch = {&g, {}, 0};
    int tensors = 0;
    for (int k = 0; k < EP_OPERANDS; ++k)
        if (!is_number(k)) launch.at[k] = place_of(packed, tensors++, g.offset[k]);
    const char* number = numbers_of(packed, tensors);
    for (int k = 0; k < EP_OPERANDS; ++k) {
        if (!is_number(k)) continue;
        storage.store(number, elements[k], storage.size, 1, false);
        launch.at[k] = elements[k];
        number += EP_NUMBER;
    }
    return enter(launch);
}
