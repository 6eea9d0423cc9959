// OneHot: rows with one class set.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// The entry of its rows.
int one_hot(const void* packed);

}  // namespace ep
