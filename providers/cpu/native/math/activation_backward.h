// The gradients of the activations.
#pragma once

#include "activation.h"

template <class T>
struct Decay;
#define EP_SHARED "mathematics/activation_backward.inc"
#include "shared/each.h"
