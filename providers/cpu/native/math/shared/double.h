// A text of the mathematics that all providers share, for double alone. The name of the file is in EP_SHARED.
// clang-format off: an order of its own
#include "mathematics/begin_f64.h"
#include EP_SHARED
#include "mathematics/end.h"
// clang-format on

#undef EP_SHARED
