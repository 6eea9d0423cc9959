// The count of native calls.
#pragma once

#include "native.h"

namespace ep {

void count_call();

}  // namespace ep
