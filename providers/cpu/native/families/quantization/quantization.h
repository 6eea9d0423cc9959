// Quantize and Dequantize: operands are x, scale, zero point and out; `scalar` says that there is no zero point.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The entry of their rows.
int quantization(const void* packed);

}  // namespace ep
