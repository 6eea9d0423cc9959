// Exponentials of complex numbers.
#pragma once

#include "math/exponential.h"
#include "math/trigonometric.h"
#include "number.h"

template <class T>
struct ScaledComplex;
template <class T>
struct Logistic;
#define EP_SHARED "mathematics/complex_exponential.inc"
#include "math/shared/double.h"
