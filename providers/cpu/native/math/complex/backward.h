// The backward forms of complex functions.
#pragma once

#include "circular.h"
#include "root.h"

template <class T>
struct OneMinusSquare;
#define EP_SHARED "mathematics/complex_backward.inc"
#include "math/shared/double.h"
