// AddN: sums of many tensors.
#pragma once

#include "runtime/native.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// The entry of its rows.
int add_n(const void* packed);

}  // namespace ep
