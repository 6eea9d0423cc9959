// Circular functions and their inverses, over the whole range.
#pragma once

#include "angle.h"

template <class T>
struct SineCosine;
#define EP_SHARED "mathematics/circular.inc"
#include "shared/each.h"

template <class T>
struct HalfAngle;
#define EP_SHARED "mathematics/arc.inc"
#include "shared/each.h"
