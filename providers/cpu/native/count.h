// The count of native calls, and the rounding of one number to float16.
#pragma once

#include "native.h"

namespace ep {

void count_call();
uint16_t half_bits(float x);

}  // namespace ep
