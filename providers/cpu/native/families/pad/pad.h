// Pad: borders around a tensor, or less of it.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// The entry of its rows.
int pad(const void* packed);

}  // namespace ep
