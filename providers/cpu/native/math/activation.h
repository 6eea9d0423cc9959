// The activations.
#pragma once

#include "double_word.h"
#include "error_function.h"
#include "exponential.h"
#include "logarithm.h"

#define EP_SHARED "mathematics/activation.inc"
#include "shared/each.h"
