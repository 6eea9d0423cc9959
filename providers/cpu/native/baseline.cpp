// Kernels for whatever the compiler takes by itself.
#include "stream.h"

#define EP_ISA baseline
#define EP_FMA 0
#define EP_ROUNDS 0
#define EP_F16C 0
#include "kernels.h"
